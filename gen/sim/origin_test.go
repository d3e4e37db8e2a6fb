package sim

import (
	"context"
	"strings"
	"testing"
)

func TestOriginsOfLines(t *testing.T) {
	const text = "one\n  # line 7 \"specs/g/a.metal\" more\nseven\neight\n#line 70\nseventy\n#line 9 \"b\"\n"
	blank, from := withoutOrigins([]byte(text))
	if strings.Count(string(blank), "\n") != strings.Count(text, "\n") || len(blank) != len(text) || strings.Contains(string(blank), "#") {
		t.Errorf("blanked to %q", blank)
	}
	for line, want := range map[int]origin{
		0: {file: "", line: 0}, 1: {file: "", line: 1}, 3: {file: "specs/g/a.metal", line: 7}, 4: {file: "specs/g/a.metal", line: 8},
		6: {file: "specs/g/a.metal", line: 70}, 8: {file: "b", line: 9},
	} {
		if file, named := from.of(line); file != want.file || named != want.line {
			t.Errorf("line %d is %s:%d, want %s:%d", line, file, named, want.file, want.line)
		}
	}
	if same, none := withoutOrigins([]byte("#define line 1\n// #line 2\n")); len(none) > 0 || string(same) != "#define line 1\n// #line 2\n" {
		t.Errorf("directives %v in a text without any", none)
	}
}

// The second copy has what is wrong in both, and what a conditional leaves out
// of the first.
const copies = `#include <metal_stdlib>
using namespace metal;
namespace a {
#define FIRST 1
#line 1 "specs/g/k.metal"
inline float twice(float x) { return 2.0f * y; }
#if !FIRST
inline float once(float x) { return z; }
#endif
#line 11 "msl/g/k.metal"
#undef FIRST
}
namespace b {
#define FIRST 0
#line 1 "specs/g/k.metal"
inline float twice(float x) { return 2.0f * y; }
#if !FIRST
inline float once(float x) { return z; }
#endif
#line 21 "msl/g/k.metal"
#undef FIRST
}
`

func TestFindingsBearTheNameOfTheirLine(t *testing.T) {
	list, err := Check(context.Background(), "k.metal", []byte(copies))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range list {
		got = append(got, Place("msl/g/k.metal", f.File, f.String()))
	}
	want := "specs/g/k.metal:1:45: error: use of undeclared identifier 'y'\nspecs/g/k.metal:3:37: error: use of undeclared identifier 'z'"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("found\n%s\nwant\n%s", text, want)
	}
	_, err = Build(context.Background(), buildDir, "k.metal", []byte(copies), 0)
	if err == nil || !strings.Contains(err.Error(), "specs/g/k.metal:1:45: error") {
		t.Errorf("the build says %v", err)
	}
}

const racing = `#include <metal_stdlib>
using namespace metal;
#line 40 "specs/g/r.metal"
inline void put(device int *x, uint i) {
	x[0] = int(i);
}
#line 7 "msl/g/r.metal"
kernel void race(device int *x [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
	put(x, i);
}
`

func TestReportsBearTheNameOfTheirLine(t *testing.T) {
	p := build(t, "r.metal", racing, Thread)
	r := run(t, p, Job{
		Kernel: "race", Grid: [3]int{1, 1, 1}, Group: [3]int{4, 1, 1},
		Buffers: []Buffer{{Index: 0, Data: make([]byte, 4), Writable: true}},
	})
	if len(r.Reports) == 0 {
		t.Fatal("no race is reported")
	}
	if got := r.Reports[0]; got.File != "specs/g/r.metal" || got.Line != 41 || !strings.Contains(got.Text, "in line 41") {
		t.Errorf("the report is %s", got)
	}
}
