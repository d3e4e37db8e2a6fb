package cuda

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/sim"
)

// Kernels of matrix products run on the host, with what they have in PTX written anew
// from its specification: they read and write what they may, in banks that do not
// collide, and give the product.
func TestProducts(t *testing.T) {
	clang, err := sim.Compiler()
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "product.cpp"), filepath.Join(dir, "product")
	if err := os.WriteFile(source, []byte(productSource(t)), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(clang, "-x", "c++", "-std=c++17", "-O1", "-g", "-Wno-unknown-pragmas", "-ffp-contract=off",
		"-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-nostdinc++", "-I../../gen/sim/include/rt", source, "-o", program, "-lm").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(program).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

var kernelName = regexp.MustCompile(`__launch_bounds__\((\d+)\) (kg_[0-9a-f]+_matmul_([nt])([nt])_(f32|f16|bf16)(_small|_parts|_join)?)\(`)

// productSource is a program that runs the kernels of the generated matmul.
func productSource(t *testing.T) string {
	t.Helper()
	kernels := strings.ReplaceAll(read(t, "../../generated/ops/internal/cmatmul/matmul.cu"), "#pragma unroll", "") // compiles faster
	units := paragraphs(read(t, "testdata/units.h"))
	var b strings.Builder
	b.WriteString(read(t, "testdata/host.h"))
	written := map[string]bool{}
	for _, text := range strings.Split(kernels, "\n\n") {
		name := helperName(text)
		if !strings.Contains(text, "asm") || name == "" {
			b.WriteString(text + "\n\n")
			continue
		}
		replaced := false
		for _, u := range units {
			if n := helperName(u); strings.HasPrefix(n, name) && (n == name || n == name+"_rows" || n == name+"_value") && !written[u] {
				b.WriteString(u + "\n\n")
				written[u], replaced = true, true
			}
		}
		if !replaced {
			t.Errorf("%s is written in PTX, and nothing takes its place", name)
		}
	}
	b.WriteString(read(t, "testdata/product.h"))
	b.WriteString("\nint main() {\n")
	found := kernelName.FindAllStringSubmatch(kernels, -1)
	joins := map[string]string{} // by type
	for _, f := range found {
		if f[6] == "_join" {
			joins[f[5]] = f[2] + ", " + f[1]
		}
	}
	if len(found) != 39 || len(joins) != 3 {
		t.Fatalf("%d kernels of products, want 24 and 12 of parts, and 3 that join them", len(found))
	}
	for _, f := range found {
		if layout := f[3] + f[4]; !everyProduct && (f[5] == "f32" && layout != "nn" && layout != "tt" || f[5] == "bf16" && layout != "nt") {
			continue
		}
		run, sizes := fmt.Sprintf("whole(%s, %s, 128)", f[2], f[1]), []string{"130, 5, 23, 1", "6, 136, 32, 0", "3, 5, 0, 0"}
		switch f[6] {
		case "_small":
			run, sizes = fmt.Sprintf("whole(%s, %s, 64)", f[2], f[1]), []string{"67, 5, 23, 1", "6, 72, 32, 0", "3, 5, 0, 0"}
		case "_parts":
			run, sizes = fmt.Sprintf("split(%s, %s, 64, %s, 3)", f[2], f[1], joins[f[5]]), []string{"66, 2, 23, 1", "3, 66, 80, 0"}
		case "_join":
			continue
		}
		for _, size := range sizes {
			fmt.Fprintf(&b, "\tproduct<%s>(%s, %t, %t, %s);\n", f[5], run, f[3] == "t", f[4] == "t", size)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func paragraphs(text string) []string { return strings.Split(strings.TrimSpace(text), "\n\n") }

var word = regexp.MustCompile(`kg_\w+\(`)

// helperName is the function that a paragraph defines, "" for none.
func helperName(text string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "//") {
			continue
		}
		return strings.TrimSuffix(word.FindString(line), "(")
	}
	return ""
}
