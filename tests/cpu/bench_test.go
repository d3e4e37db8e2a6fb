package cpu

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkKernels runs the reference kernels of testdata/kernels against
// memcpy and, where one is installed, OpenBLAS, and prints the ratios. It is
// one run of its own length: go test -bench Kernels -benchtime 1x ./tests/cpu
func BenchmarkKernels(b *testing.B) {
	g := target{name: "cc", cc: []string{"cc"}}
	files, err := filepath.Glob("testdata/kernels/*.c")
	if err != nil || len(files) == 0 {
		b.Fatalf("no kernels: %v", err)
	}
	for i, f := range files {
		files[i] = filepath.Join("kernels", filepath.Base(f))
	}
	program := g.build(b, append([]string{"bench_main.c"}, files...)...)
	for b.Loop() {
		cmd := g.start(program, "best", openblas())
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	}
}

// openblas gives the path of an OpenBLAS library, or "".
func openblas() string {
	out, err := exec.Command("sh", "-c", "ldconfig -p || /sbin/ldconfig -p").Output()
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(out)) {
		if name, path, ok := strings.Cut(line, "=> "); ok && strings.Contains(name, "libopenblas.so") {
			return strings.TrimSpace(path)
		}
	}
	return ""
}

// BenchmarkCompile times one kernel file of two functions, all instruction
// sets, with each compiler.
func BenchmarkCompile(b *testing.B) {
	for _, g := range targets(b) {
		b.Run(g.name, func(b *testing.B) {
			object := filepath.Join(b.TempDir(), "gelu.o")
			for b.Loop() {
				cmd := exec.Command(g.cc[0], append(append(g.cc[1:], cflags...), "-c", "kernels/gelu.c", "-o", object)...)
				cmd.Dir = "testdata"
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
			}
		})
	}
}
