package sim

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// buildDir is shared by all tests, so that each program is built once.
var buildDir string

func TestMain(m *testing.M) {
	if err := Tools(); err != nil {
		fmt.Println("--- SKIP: all tests:", err)
		return
	}
	dir, err := os.MkdirTemp("", "kgen-sim-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	buildDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// builds are the two programs that stand for the three sanitizers.
var builds = []Sanitizer{Thread, Address | Undefined}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func build(t *testing.T, name, src string, san Sanitizer) *Program {
	t.Helper()
	p, err := Build(context.Background(), buildDir, name, []byte(src), san)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func run(t *testing.T, p *Program, job Job) *Result {
	t.Helper()
	r, err := p.Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// clean runs a job that must have no report.
func clean(t *testing.T, p *Program, job Job) *Result {
	t.Helper()
	r := run(t, p, job)
	if err := r.Err(); err != nil {
		t.Fatalf("%s with sanitizer %s: %v", job.Kernel, p.san, err)
	}
	return r
}

// lineOf is the line, from 1, that holds the text.
func lineOf(t *testing.T, src, text string) int {
	t.Helper()
	before, _, found := strings.Cut(src, text)
	if !found {
		t.Fatalf("no line holds %q", text)
	}
	return strings.Count(before, "\n") + 1
}

func f32(v ...float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func floats(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

func i32(v ...int32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return b
}

func i64(v ...int64) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return b
}

func ramp(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i%17)*0.375 - 2
	}
	return v
}

// near compares floats with the tolerance of f32.
func near(t *testing.T, what string, got []float32, want func(i int) float64) {
	t.Helper()
	for i, g := range got {
		w := want(i)
		if math.IsNaN(w) && math.IsNaN(float64(g)) {
			continue
		}
		if d := math.Abs(float64(g) - w); !(d <= 1e-6+1e-5*math.Abs(w)) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, g, w)
		}
	}
}

func line(n int) [3]int { return [3]int{n, 1, 1} }
