package sim

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/verdicts.txt")

// TestCorpus judges sources that are known to be right and known to be wrong:
// one that is right is never refused, one that is wrong never accepted, and the
// reasons are those of testdata/verdicts.txt.
func TestCorpus(t *testing.T) {
	t.Parallel()
	var files []string
	for _, dir := range []string{"accepted", "rejected"} {
		list, err := filepath.Glob(filepath.Join("testdata", dir, "*.metal"))
		if err != nil || len(list) == 0 {
			t.Fatalf("no sources in %s: %v", dir, err)
		}
		files = append(files, list...)
	}
	got := make([]string, len(files))
	t.Run("files", func(t *testing.T) {
		for i, path := range files {
			t.Run(filepath.Base(path), func(t *testing.T) {
				t.Parallel()
				got[i] = verdict(t, path)
			})
		}
	})
	text := strings.Join(got, "")
	golden := filepath.Join("testdata", "verdicts.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, "verdicts.txt"); text != want {
		t.Errorf("the verdicts differ from %s:\n%s", golden, text)
	}
}

func verdict(t *testing.T, path string) string {
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Check(context.Background(), path, src)
	if err != nil {
		t.Fatal(err)
	}
	v := Judge(list)
	right := filepath.Base(filepath.Dir(path)) == "accepted"
	if right && v == Refused || !right && v == Accepted {
		t.Errorf("%s is %s: %v", path, v, list)
	}
	out := fmt.Sprintf("%s/%s: %s\n", filepath.Base(filepath.Dir(path)), filepath.Base(path), v)
	for _, f := range list {
		out += "\t" + f.String() + "\n"
	}
	return out
}

func check(t *testing.T, src string) string {
	t.Helper()
	list, err := Check(context.Background(), "test.metal", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range list {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}

// The kernels of the other tests lie inside the subset.
func TestCheckKernels(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"map.metal", "softmax.metal", "matmul.metal", "fault.metal", "lanes.metal", "wrong.metal"} {
		if found := check(t, read(t, "kernels", name)); found != "" {
			t.Errorf("%s: %s", name, found)
		}
	}
}

const head = "#include <metal_stdlib>\nusing namespace metal;\n"

// TestCheck gives a statement of a kernel and what the check says of it.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want string }{
		{"y[i] = max(x[i], 0);", "5:8: error: call to 'max' is ambiguous"},
		{"y[i] = max(x[i], 0.0);", ""},
		{"y[i] = fast::exp(x[i]) + precise::log(x[i]);", ""},
		{"y[i] = erf(x[i]);", "5:8: error: use of undeclared identifier 'erf'"},
		{"half2 a = half2(1.0h); y[i] = precise::exp(a.x) + fast::max(x[i], n);", ""},
		{"float4 v = float4(1.0f, 2.0f); y[i] = v.x;", "5:12: error: static assertion failed"},
		{"float4 v = float4(float2(1.0f), 2.0f, 3.0f); y[i] = v.x; y[i] = q;", "5:65: error: use of undeclared identifier 'q'"},
		{"bfloat b = 1.0f; y[i] = b;", "5:8: error: no viable conversion from 'float' to 'thread bfloat'"},
		{"bfloat b = 1.0bf; half h = 1.0h; y[i] = b * h;", "5:43: error: overload resolution selected deleted operator '*'"},
		{"bfloat b = bfloat(x[i]); y[i] = exp(b) + b;", ""},
		{"bfloat b = bfloat(x[i]); b = exp(b); y[i] = b;", "5:28: error: no viable overloaded '='"},
		{"y[i] = as_type<float>(i); y[i] = as_type<float>(half(1.0h));", "5:34: error: static assertion failed"},
		{"x[i] = 1.0f;", "5:6: error: read-only variable is not assignable"},
		{"p.n = 1;", "5:5: error: read-only variable is not assignable"},
		{"device float *q = x;", "5:15: error: cannot initialize a variable of type 'device float *thread' with an lvalue of type 'const device float *thread'"},
		{"threadgroup float t[4]; t[i] = y[i]; device float *q = t;", "5:52: error: cannot initialize a variable of type 'device float *thread' with an lvalue of type 'threadgroup float[4]'"},
		{"threadgroup float t[4]; device float *q = y; float *r = q;", "5:52: error: pointer type must have explicit address space qualifier"},
		{"threadgroup_barrier();", "5:1: error: no matching function for call to 'threadgroup_barrier'"},
		{"y[i] = simd_sum(ulong(1));", "5:8: error: call to 'simd_sum' is ambiguous"},
		{"y[i] = simd_shuffle_down(x[i], 2u) + simd_broadcast(x[i], 0);", ""},
		{"float a = 1.0; auto f = 2.5; y[i] = min(a, f);", ""},
		{"double d = 1.0;", "5:1: error: 'double' is not supported in Metal"},
		{"P q = p; y[i] = q.k;", "5:3: outside the checked subset: a structure copied out of constant memory"},
		{"if (i > 2) { threadgroup float t[4]; t[i] = 1.0f; }", "5:32: outside the checked subset: a threadgroup variable in an inner block"},
		{"texture2d<float> t; undeclared();", "5:1: outside the checked subset: texture2d"},
		{"int2 v = (int2)float2(1.0f); y[i] = v.x;", "5:11: outside the checked subset: C cast to int2; write int2(x)"},
	} {
		src := head + "struct P { int n; float k; };\n" +
			"kernel void f(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], constant P &p [[buffer(2)]], constant float &n [[buffer(3)]], uint i [[thread_position_in_grid]]) {\n" +
			c.body + "\n}\n"
		t.Run(c.body, func(t *testing.T) {
			t.Parallel()
			got := check(t, src)
			if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// rulesOf runs the rules that need no clang.
func rulesOf(src string) string {
	var lines []string
	s := parse([]byte(src))
	for _, f := range append(s.rules(), s.outsideRules()...) {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}

func TestPointerRules(t *testing.T) {
	const bare = "error: pointer type must have explicit address space qualifier"
	for _, c := range []struct{ src, want string }{
		{"void f(device float *p, const device half *q, float const constant *r, int device *s);", ""},
		{"void f(float *p);", "1:14: " + bare},
		{"void f(const float *p);", "1:20: " + bare},
		{"void f(device float *thread *p, device float **q);", "1:47: " + bare},
		{"struct S { int n; }; void f(thread S &s, S &t);", "1:44: error: reference type must have explicit address space qualifier"},
		{"template <typename T> T g(device T *p, T *q);", "1:42: " + bare},
		{"template <typename T> void g(T &&v);", "1:32: error: reference type must have explicit address space qualifier"},
		{"typedef device float *buf; int f(int a, int b) { return a * b & a && b; }", ""},
		{"float g(float x, float y) { return float(x) * y + (x) * y - sizeof(float) * 2; }", ""},
		{"void f(device vec<float, 2> *p, vec<float, 2> *q);", "1:47: " + bare},
		{"void f(device float *p) { uint v = *(device uint *)p; v = *(uint *)p; }", "1:66: " + bare},
		{"// float *p\n/* int &q */ constant char s[] = \"float *p\";", ""},
		{"#define LOAD(p) (*(float *)p)\nint x;", "1:26: " + bare},
	} {
		if got := rulesOf(c.src); got != c.want {
			t.Errorf("%s\n\tfound %q\n\twant  %q", c.src, got, c.want)
		}
	}
}

func TestKernelRules(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"kernel void f(device int *x [[buffer(31)]]) {}", "1:31: error: buffer index 31 of argument x: the highest is 30"},
		{"kernel void f(device int *x, uint n) {}", "1:30: error: argument n of kernel f is passed by value and has no attribute"},
		{"kernel void f(device int *x, int i [[thread_index_in_threadgroup]]) {}", "1:30: error: thread_index_in_threadgroup cannot have type int: ushort and uint are possible"},
		{"kernel void f(device int *x, uint2 i [[thread_index_in_threadgroup]]) {}", "1:30: error: thread_index_in_threadgroup cannot have type uint2: ushort and uint are possible"},
		{"kernel void f(device int *x, uint4 i [[thread_position_in_grid]]) {}", "1:30: error: thread_position_in_grid cannot have type uint4: ushort, ushort2, ushort3, uint, uint2 and uint3 are possible"},
		{"kernel void f(uint3 g [[threadgroup_position_in_grid]], uint2 i [[thread_position_in_grid]]) {}", "1:57: error: thread_position_in_grid has 2 components where argument g has 3: the grid positions must agree"},
		{"kernel void f(uint a [[thread_index_in_simdgroup]], ushort b [[simdgroup_index_in_threadgroup]]) {}", "1:53: error: simdgroup_index_in_threadgroup has type ushort where argument a has type uint: the two must agree"},
		{"[[kernel]] int f() { return 0; }", "1:16: error: kernel f must return void"},
		{"kernel void f(device int *x [[color(0)]]) {}", "1:31: outside the checked subset: attribute [[color]] here"},
		{"#include <metal_tensor>\n", "1:1: outside the checked subset: #include <metal_tensor>"},
	} {
		if got := rulesOf(c.src); got != c.want {
			t.Errorf("%s\n\tfound %q\n\twant  %q", c.src, got, c.want)
		}
	}
}

// Code that a conditional leaves out is not judged.
func TestConditionals(t *testing.T) {
	t.Parallel()
	src := head + `#if __METAL_VERSION__ < 200
inline float old(float *p) { return *p; }
#elif defined(__METAL__)
inline float now(device float *p) { return *p; }
#define UNUSED double
#else
double never;
#endif
#ifdef UNUSED
inline float also(float *p) { return *p; }
#endif
`
	if got, want := check(t, src), "12:25: error: pointer type must have explicit address space qualifier"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
}

// Buffers without an index take the first free one.
func TestSlots(t *testing.T) {
	s := parse([]byte("kernel void f(device int *a, device int *b [[buffer(0)]], threadgroup int *c, device int *d, constant int &e [[buffer(2)]], uint i [[thread_position_in_grid]]) {}"))
	if got, want := fmt.Sprint(s.kernels[0].assignSlots()), "[1 0 0 3 2 0]"; got != want {
		t.Errorf("slots %s, want %s", got, want)
	}
}

func TestLiteral(t *testing.T) {
	for _, c := range [][3]string{
		{"1", "1", "1"}, {"0x1F", "0x1F", "0x1F"}, {"0xe", "0xe", "0xe"}, {"10u", "10u", "10u"}, {"1.5", "1.5f", "1.5f"}, {"1e5", "1e5f", "1e5f"},
		{"1.f", "1.f", "1.f"}, {".5", ".5f", ".5f"}, {"0.5h", "0.5h", "half(0.5f)"}, {"1H", "1H", "half(1.0f)"}, {"2bf", "bfloat(2.0f)", "bfloat(2.0f)"},
		{"0x1p-3", "0x1p-3f", "0x1p-3f"}, {"2147483648L", "2147483648L", "2147483648L"},
	} {
		if got := literal(c[0], checkMode); got != c[1] {
			t.Errorf("%s is checked as %s, want %s", c[0], got, c[1])
		}
		if got := literal(c[0], runMode); got != c[2] {
			t.Errorf("%s is run as %s, want %s", c[0], got, c[2])
		}
	}
}

// A column of the rewritten text is the column of the source, on every line.
func TestColumns(t *testing.T) {
	src := head + "kernel void f(device float4 *x [[buffer(0)]]) {\n  threadgroup float t[2]; x[0] = float4(1.0) + float4(2.0); end;\n}\n"
	s := parse([]byte(src))
	for _, m := range []mode{checkMode, runMode} {
		e := s.rewrite(m)
		out := string(e.apply(s.text))
		for _, word := range []string{"x[0]", "end", "kernel void"} {
			before, _, _ := strings.Cut(out, word)
			row := strings.Count(before, "\n") + 1
			col := len(before) - strings.LastIndexByte(before, '\n')
			line, want := s.position(strings.Index(src, word))
			if got := e.original(s.lexed, row, col); got != want || row != line {
				t.Errorf("%q is at %d:%d, want %d:%d, in\n%s", word, row, got, line, want, out)
			}
		}
	}
}
