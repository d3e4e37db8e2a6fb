package cpu

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// TestMath measures exp, log and the others against libm in double, over every
// 40009th float and special values. Wherever multiply-add is fused the results
// must be the same bits.
func TestMath(t *testing.T) {
	fused := map[string]string{}
	each(t, []string{"math_main.c", "math.c"}, []string{"40009"}, func(t *testing.T, g target, isa int, out string) {
		if isa == 0 && g.name != "arm64" && runtime.GOARCH != "arm64" || g.name == "cc-plain" {
			return
		}
		for line := range strings.Lines(out) {
			name, _, _ := strings.Cut(line, " ")
			_, hash, ok := strings.Cut(line, "hash ")
			if !ok {
				t.Fatalf("no hash in %q", line)
			}
			if other, ok := fused[name]; ok && other != hash {
				t.Errorf("%s: hash %swant %s", name, hash, other)
			}
			fused[name] = hash
		}
	})
}

// TestLanes checks loads and stores at the edge of a page, conversions of all
// halves, integers, reductions, argmax, philox, and that no operator fuses.
func TestLanes(t *testing.T) {
	each(t, []string{"lanes.c"}, nil, nil)
}

// TestGEMM checks packing and products for all sizes around a tile.
func TestGEMM(t *testing.T) {
	each(t, []string{"gemm.c"}, nil, nil)
}

// TestMove checks copies and transposes for all sizes around a tile.
func TestMove(t *testing.T) {
	each(t, []string{"move.c"}, nil, nil)
}

// TestKernels checks the kernels of testdata/kernels, which are written as the
// emitter writes them.
func TestKernels(t *testing.T) {
	files, err := filepath.Glob("testdata/kernels/*.c")
	if err != nil || len(files) == 0 {
		t.Fatalf("no kernels: %v", err)
	}
	for i, f := range files {
		files[i] = filepath.Join("kernels", filepath.Base(f))
	}
	each(t, append([]string{"kernels_main.c"}, files...), nil, nil)
}

// TestFault sets faults from several threads: the lowest op and position stay.
func TestFault(t *testing.T) {
	for _, g := range targets(t) {
		t.Run(g.name, func(t *testing.T) {
			if out, err := g.start(g.build(t, "fault.c")).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestSanitizers runs the lanes, products and moves under the compiler's checks of
// addresses and undefined behaviour.
func TestSanitizers(t *testing.T) {
	// Of the functions in the headers clang compiles without optimisation those alone that
	// are called: a third of what cc takes.
	cc := "cc"
	for _, name := range []string{"clang", "clang-19"} {
		if _, err := exec.LookPath(name); err == nil {
			cc = name
		}
	}
	g := target{name: cc, cc: []string{cc, "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}, isas: machineISAs(t)}
	for _, file := range []string{"lanes.c", "gemm.c", "move.c"} {
		program := g.build(t, file)
		for _, isa := range g.isas {
			if out, err := g.start(program, strconv.Itoa(isa)).CombinedOutput(); err != nil {
				t.Errorf("%s isa %d: %v\n%s", file, isa, err, out)
			}
		}
	}
}
