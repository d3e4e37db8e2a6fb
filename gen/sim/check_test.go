package sim

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/warnings.txt")

// reasons are why each source of testdata/rejected is refused: words of the reason that
// its first line states, and the line and words of the finding that says the same.
var reasons = []struct {
	file, stated string
	line         int
	found        string
}{
	{"01_pointer_parameter_without_space", "pointer type must have explicit address space qualifier", 5, "pointer type must have explicit address space qualifier"},
	{"02_pointer_cast_without_space", "a pointer type in a cast needs its address space", 7, "pointer type must have explicit address space qualifier"},
	{"03_reference_parameter_without_space", "a reference parameter needs an address space", 5, "reference type must have explicit address space qualifier"},
	{"04_program_scope_variable", "program scope variable must reside in constant address space", 5, "program scope variable must reside in constant address space"},
	{"05_program_scope_constexpr", "constexpr alone does not put a program-scope variable into the constant address space", 5, "program scope variable must reside in constant address space"},
	{"06_write_to_constant", "a write through the constant address space", 9, "read-only variable is not assignable"},
	{"07_device_to_thread_pointer", "a device pointer is not a thread pointer", 6, "cannot initialize a variable of type 'thread float *thread' with an rvalue of type 'device float *'"},
	{"08_threadgroup_to_device_call", "no viable function: the only overload takes device memory", 11, "no matching function for call to 'load'"},
	{"09_double", "double is not a Metal type", 6, "'double' is not supported in Metal"},
	{"10_variable_length_array", "variable length arrays are not supported in Metal", 8, "variable length arrays are not supported in Metal"},
	{"11_goto", "goto is not available", 6, "goto is not supported in Metal"},
	{"12_exceptions", "exception handling is not available", 6, "exceptions are not supported in Metal"},
	{"12_exceptions", "exception handling is not available", 7, "exceptions are not supported in Metal"},
	{"13_virtual_and_new", "virtual functions and the new operator are not available", 6, "virtual functions are not supported in Metal"},
	{"13_virtual_and_new", "virtual functions and the new operator are not available", 10, "the new operator is not supported in Metal"},
	{"14_static_local", "static is for program scope only, not for a variable of a kernel", 6, "static is for program scope, not for a variable of a function"},
	{"15_vector_implicit_conversion", "no implicit conversion from one vector type to another, int4 to float4", 7, "cannot initialize a variable of type 'thread float4' (vector of 4 'float' values) with an lvalue of type 'thread int4'"},
	{"16_swizzle_repeated_on_left", "a component named twice on the left of an assignment", 7, "vector is not assignable (contains duplicate components)"},
	{"17_swizzle_mixed_sets", "xyzw and rgba names mixed in one access", 7, "illegal vector component name 'g'"},
	{"18_as_type_size", "as_type between types of different size", 6, "as_type needs two types of one size"},
	{"19_kernel_returns_value", "a kernel must return void", 5, "kernel k must return void"},
	{"20_duplicate_buffer_index", "two buffers at one index", 5, "buffer index 0 of argument y is taken by argument x"},
	{"21_ambiguous_min", "call to 'min' is ambiguous", 5, "call to 'min' is ambiguous"},
	{"22_bfloat_from_float", "no implicit conversion from float to bfloat", 6, "no viable conversion from 'float' to 'thread bfloat'"},
	{"23_attribute_shapes", "thread_position_in_grid and threads_per_grid must have one type", 5, "threads_per_grid has type uint2 where argument at has type uint3: the two must agree"},
	{"24_width_named_twice", "kernel function cannot have input declarations with thread_execution_width and threads_per_simdgroup attributes", 5, "kernel function cannot have input declarations with 'thread_execution_width' and 'threads_per_simdgroup' attributes"},
	{"25_memory_order_acquire", "only memory_order_relaxed", 6, "no matching function for call to 'atomic_load_explicit'"},
}

// TestRejected: each source is refused for the reason that it states, where that lies, and
// for no other.
func TestRejected(t *testing.T) {
	t.Parallel()
	for _, path := range corpus(t, "rejected") {
		name := strings.TrimSuffix(filepath.Base(path), ".metal")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := read(t, "rejected", name+".metal")
			stated, _, _ := strings.Cut(src, "\n")
			var want []*expected
			for _, r := range reasons {
				if r.file != name {
					continue
				}
				if !strings.HasPrefix(stated, "// REJECT") || !strings.Contains(stated, r.stated) {
					t.Errorf("the source does not state %q: %s", r.stated, stated)
				}
				want = append(want, &expected{line: r.line, kind: "error", text: r.found})
			}
			if len(want) == 0 {
				t.Fatal("no reason is known")
			}
			compareMarks(t, want, checkFile(t, path))
		})
	}
}

// TestAccepted: no source that is right is refused or outside. What it is warned of
// stands in testdata/warnings.txt.
func TestAccepted(t *testing.T) {
	t.Parallel()
	paths := corpus(t, "accepted")
	got := make([]string, len(paths))
	t.Run("files", func(t *testing.T) {
		for i, path := range paths {
			t.Run(filepath.Base(path), func(t *testing.T) {
				t.Parallel()
				list := checkFile(t, path)
				if v := Judge(list); v != Accepted {
					t.Errorf("%s: %v", v, list)
				}
				for _, f := range list {
					got[i] += filepath.Base(path) + ":" + f.String() + "\n"
				}
			})
		}
	})
	text := strings.Join(got, "")
	golden := filepath.Join("testdata", "warnings.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, "warnings.txt"); text != want {
		t.Errorf("the warnings differ from %s:\n%s", golden, text)
	}
}

func corpus(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join("testdata", dir, "*.metal"))
	if err != nil || len(list) != 25 {
		t.Fatalf("%d sources in %s: %v", len(list), dir, err)
	}
	return list
}

func checkFile(t *testing.T, path string) []Finding {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Check(context.Background(), path, src)
	if err != nil {
		t.Fatal(err)
	}
	return list
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
	for _, name := range []string{"map.metal", "softmax.metal", "matmul.metal", "fault.metal", "lanes.metal", "wrong.metal", "blocks.metal"} {
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
		{"float4 v = float4(1.0f, 2.0f); y[i] = v.x;", "5:12: error: the vector constructor takes one scalar or exactly as many"},
		{"float4 v = float4(float2(1.0f), 2.0f, 3.0f); y[i] = v.x; y[i] = q;", "5:65: error: use of undeclared identifier 'q'"},
		{"bfloat b = 1.0f; y[i] = b;", "5:8: error: no viable conversion from 'float' to 'thread bfloat'"},
		{"bfloat b = 1.0bf; half h = 1.0h; y[i] = b * h;", "5:43: error: overload resolution selected deleted operator '*'"},
		{"bfloat b = bfloat(x[i]); y[i] = exp(b) + b;", ""},
		{"bfloat b = bfloat(x[i]); b = exp(b); y[i] = b;", "5:28: error: no viable overloaded '='"},
		{"y[i] = as_type<float>(i); y[i] = as_type<float>(half(1.0h));", "5:34: error: as_type needs two types of one size"},
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

// Where conditionals ask for names of generated sources alone, they leave out what the
// preprocessor does; where they ask for more, it is asked.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	cc, err := Compiler()
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range []string{
		"#ifdef KG_A\nint a;\n#else\nint b;\n#endif\nint c;\n",
		"#ifndef KG_A\nint a;\n#else\nint b;\n#endif\n",
		"#ifndef KG_A\nint a;\n#ifdef KG_B\nint b;\n#endif\nint c;\n#else\nint d;\n#ifndef KG_C\nint e;\n#else\nint f;\n#endif\n#endif\n",
		"#ifdef KG_A\n#ifdef KG_B\nint b;\n#else\nint c;\n#endif\n#endif\nint d;\n",
	} {
		l := lex([]byte(head + src))
		left, ok := l.leftOut()
		kept, err := keptLines(t.Context(), cc, l)
		if !ok || err != nil {
			t.Fatal(ok, err, src)
		}
		got, want := bytes.Clone(l.text), bytes.Clone(l.text)
		for _, b := range left {
			l.blankCode(got, b)
		}
		for _, b := range l.branches() {
			if !b.holdsAny(kept) {
				l.blankCode(want, b)
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("left is\n%swant\n%s", got, want)
		}
	}
	for _, src := range []string{
		"#define KG_A\n#ifdef KG_A\nint a;\n#endif\n", "#ifdef OTHER\n#endif\n", "#if KG_A\n#endif\n", "#ifdef KG_A\n", "#else\n", "#endif\n",
		"#ifdef KG_A\n#elif 1\nint a;\n#endif\n", "#ifdef KG_A\n#else\n#else\n#endif\n", "#include \"a.h\"\n#ifdef KG_A\n#endif\n",
	} {
		if _, ok := lex([]byte(src)).leftOut(); ok {
			t.Errorf("known without the preprocessor:\n%s", src)
		}
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

// What the library declares is unknown to a source that does not include it, or not yet.
func TestLibraryIsIncluded(t *testing.T) {
	t.Parallel()
	use := "inline float f(float x) { return metal::exp(x); }\n"
	for _, src := range []string{use, use + "#include <metal_stdlib>\n"} {
		if got := check(t, src); !strings.Contains(got, "metal") {
			t.Errorf("found %q in\n%s", got, src)
		}
	}
	for _, src := range []string{"#include <metal_stdlib>\n" + use, "// A comment.\n#include <metal_math>\n" + use} {
		if got := check(t, src); got != "" {
			t.Errorf("found %q in\n%s", got, src)
		}
	}
}
