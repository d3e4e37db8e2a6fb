package cpu

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// support is where the headers are, seen from testdata.
const support = "../../../gen/emit/c/support"

// cflags are what cgo passes for generated kernels, and all warnings as errors.
var cflags = []string{"-O2", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I" + support, "-I.", "-Ikernels"}

// target is a compiler and the way to run what it makes.
type target struct {
	name string
	cc   []string // command and flags
	run  []string // command that runs a program, empty for this machine
	isas []int    // kg_call.isa values that its programs can run
}

// targets lists every compiler of this machine: cc, gcc and clang where they
// differ, cc as for a machine without vector headers, and a cross compiler for
// arm64 where qemu can run the result.
func targets(t testing.TB) []target {
	t.Helper()
	isas := machineISAs(t)
	var list []target
	var seen []string
	for _, name := range []string{"cc", "gcc", "clang", "clang-19"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		if slices.Contains(seen, path) {
			continue
		}
		seen = append(seen, path)
		list = append(list, target{name: name, cc: []string{name}, isas: isas})
	}
	list = append(list, target{name: "cc-plain", cc: []string{"cc", "-DKG_PLAIN"}, isas: []int{0}})
	cross, err1 := exec.LookPath("aarch64-linux-gnu-gcc")
	qemu, err2 := exec.LookPath("qemu-aarch64")
	if runtime.GOARCH != "arm64" && err1 == nil && err2 == nil {
		list = append(list, target{name: "arm64", cc: []string{cross, "-static"}, run: []string{qemu}, isas: []int{0}})
	}
	return list
}

// machineISAs asks kg_isa_best which instruction sets cc's programs can use.
func machineISAs(t testing.TB) []int {
	t.Helper()
	host := target{name: "cc", cc: []string{"cc"}}
	out, err := host.start(host.build(t, "fault.c")).CombinedOutput()
	if err != nil {
		t.Fatalf("fault: %v\n%s", err, out)
	}
	_, text, _ := strings.Cut(string(out), "isa ")
	best, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		t.Fatalf("fault printed %q, want isa N", out)
	}
	var isas []int
	for isa := 0; isa <= best; isa++ {
		isas = append(isas, isa)
	}
	return isas
}

// build compiles files of testdata into a program and returns its path.
func (g target) build(t testing.TB, files ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(files[0]), ".c"))
	args := slices.Concat(cflags, g.cc[1:], files, []string{"-o", program, "-lm", "-lpthread", "-ldl"})
	cmd := exec.Command(g.cc[0], args...)
	cmd.Dir = "testdata"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", g.cc[0], strings.Join(args, " "), err, out)
	}
	return program
}

// start prepares a run of a program. Settings that make a BLAS slower than it
// is are dropped.
func (g target) start(program string, args ...string) *exec.Cmd {
	words := slices.Concat(g.run, []string{program}, args)
	cmd := exec.Command(words[0], words[1:]...)
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "OPENBLAS_") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	return cmd
}

// each builds the program for every target and runs it once for each
// instruction set, with args after the instruction set; check sees the output.
func each(t *testing.T, files []string, args []string, check func(t *testing.T, g target, isa int, out string)) {
	for _, g := range targets(t) {
		t.Run(g.name, func(t *testing.T) {
			program := g.build(t, files...)
			for _, isa := range g.isas {
				t.Run(fmt.Sprint("isa", isa), func(t *testing.T) {
					out, err := g.start(program, append([]string{strconv.Itoa(isa)}, args...)...).CombinedOutput()
					t.Logf("%s", out)
					if err != nil {
						t.Errorf("%s: %v", filepath.Base(program), err)
					}
					if check != nil {
						check(t, g, isa, string(out))
					}
				})
			}
		})
	}
}
