package sim

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
)

// expect is a report that must be among a result's.
func expect(t *testing.T, r *Result, kind ReportKind, line int, text string) {
	t.Helper()
	for _, x := range r.Reports {
		if x.Kind == kind && x.Line == line && strings.Contains(x.Text, text) {
			return
		}
	}
	t.Errorf("no report of %s in line %d with %q; there are:\n%v", kind, line, text, r.Err())
}

// Every barrier of two kernels, taken out, is a race that names a line of the
// kernel on both sides.
func TestDeletedBarrier(t *testing.T) {
	t.Parallel()
	const barrier = "threadgroup_barrier(mem_flags::mem_threadgroup);"
	matmul, _ := matmulJob(8, 8, 24)
	for name, job := range map[string]Job{"softmax.metal": softmaxJob(1, 130, ramp(130)), "matmul.metal": matmul} {
		src := read(t, "kernels", name)
		for i := range strings.Count(src, barrier) {
			parts := strings.SplitAfterN(src, barrier, i+2)
			mutant := strings.Join(parts[:i], "") + strings.Replace(parts[i], barrier, "", 1) + parts[i+1]
			r := run(t, build(t, name, mutant, Thread), job)
			if len(r.Reports) == 0 {
				t.Errorf("%s without its barrier %d: no report", name, i)
			}
			for _, x := range r.Reports {
				if x.Kind != DataRace || x.Line == 0 || strings.Contains(x.Text, "in line 0") {
					t.Errorf("%s without its barrier %d: %s\n%s", name, i, x, x.Raw)
				}
			}
		}
	}
}

func wrong(t *testing.T, san Sanitizer) (*Program, string) {
	t.Helper()
	src := read(t, "kernels", "wrong.metal")
	return build(t, "wrong.metal", src, san), src
}

func outputs(kernel string, groups, threads, bytes int) Job {
	return Job{Kernel: kernel, Grid: line(groups), Group: line(threads), Buffers: []Buffer{{Index: 0, Data: make([]byte, bytes), Writable: true}}}
}

func TestRaces(t *testing.T) {
	t.Parallel()
	p, src := wrong(t, Thread)
	for kernel, mark := range map[string]string{
		"group_race":          "// groups race",
		"simd_orders_nothing": "// read unordered",
		"barrier_of_nothing":  "// read after an empty barrier",
	} {
		r := run(t, p, outputs(kernel, 2, 32, 4*32))
		found := false
		for _, x := range r.Reports {
			found = found || x.Kind == DataRace && strings.Contains(x.Text, "threadgroup (") && (x.Line == lineOf(t, src, mark) || kernel != "group_race")
		}
		if !found {
			t.Errorf("%s: no race is reported; %v", kernel, r.Err())
		}
	}
	r := run(t, p, outputs("simd_orders_nothing", 1, 32, 4*32))
	expect(t, r, DataRace, lineOf(t, src, "// read unordered"), "thread")
}

// A barrier of mem_threadgroup does not order device memory.
func TestDeviceOrder(t *testing.T) {
	t.Parallel()
	p, src := wrong(t, Thread)
	job := outputs("over_device", 1, 32, 4*32)
	clean(t, p, job)
	job.DeviceOrder = true
	r := run(t, p, job)
	at := lineOf(t, src, "// device memory is not ordered")
	for _, x := range r.Reports {
		if x.Kind != DataRace || x.Line != at && !strings.Contains(x.Text, fmt.Sprintf("in line %d", at)) {
			t.Errorf("%s\n%s", x, x.Raw)
		}
	}
	expect(t, r, DataRace, at, "thread")
	softmax := softmaxJob(1, 130, ramp(130))
	softmax.DeviceOrder = true
	clean(t, build(t, "softmax.metal", read(t, "kernels", "softmax.metal"), Thread), softmax)
}

// Groups share no memory of their own, and a kernel whose groups write apart
// has no race.
func TestGroupsApart(t *testing.T) {
	t.Parallel()
	p := build(t, "softmax.metal", read(t, "kernels", "softmax.metal"), Thread)
	clean(t, p, softmaxJob(40, 3, ramp(120)))
}

func TestOutOfBounds(t *testing.T) {
	t.Parallel()
	p, src := wrong(t, Address|Undefined)
	job := func(x, y int) Job {
		return Job{Kernel: "no_guard", Grid: line(1), Group: line(32), Buffers: []Buffer{
			{Index: 0, Data: make([]byte, 4*x)}, {Index: 1, Data: make([]byte, 4*y), Writable: true}}}
	}
	clean(t, p, job(32, 32))
	expect(t, run(t, p, job(31, 32)), Bounds, lineOf(t, src, "// read past the end"), "read of 4 bytes")
	expect(t, run(t, p, job(32, 31)), Bounds, lineOf(t, src, "// write past the end"), "write of 4 bytes")
	expect(t, run(t, p, job(0, 32)), Bounds, lineOf(t, src, "// read past the end"), "read of 4 bytes")
	over := Job{Kernel: "past_tile", Grid: line(1), Group: line(32), Buffers: []Buffer{
		{Index: 0, Data: make([]byte, 4*32), Writable: true}, {Index: 1, Data: i32(1)}}}
	expect(t, run(t, p, over), Bounds, lineOf(t, src, "// past the tile"), "write of 4 bytes")
}

func TestUndefined(t *testing.T) {
	t.Parallel()
	p, src := wrong(t, Address|Undefined)
	r := run(t, p, Job{Kernel: "overflow", Grid: line(1), Group: line(2), Buffers: []Buffer{{Index: 0, Data: i32(math.MaxInt32, 0), Writable: true}}})
	expect(t, r, UndefinedBehaviour, lineOf(t, src, "// overflows"), "signed integer overflow")
	if len(r.Reports) != 1 {
		t.Errorf("the shift is reported: %v", r.Err())
	}
	aligned := Job{Kernel: "misaligned", Grid: line(1), Group: line(1), Buffers: []Buffer{
		{Index: 0, Data: make([]byte, 32), Offset: 12}, {Index: 1, Data: make([]byte, 4), Writable: true}}}
	clean(t, p, aligned)
	aligned.Buffers[0].Offset = 0
	expect(t, run(t, p, aligned), UndefinedBehaviour, lineOf(t, src, "// no multiple of 16"), "misaligned address")
	aligned.Kernel = "misaligned_part"
	expect(t, run(t, p, aligned), Crash, lineOf(t, src, "// traps"), "misaligned vector")
}

func TestDivergence(t *testing.T) {
	t.Parallel()
	p, src := wrong(t, Thread)
	r := run(t, p, outputs("early_return", 1, 64, 4*64))
	expect(t, r, Divergence, lineOf(t, src, "// not all"), "reached by 25 of 64 threads of threadgroup (0,0,0): thread 25 has returned")
	if r.Buffers != nil {
		t.Error("a kernel that stopped has a result")
	}
	r = run(t, p, outputs("two_barriers", 1, 64, 4*64))
	expect(t, r, Divergence, lineOf(t, src, "// one half"), "thread 32 waits at the threadgroup_barrier in line")
	r = run(t, p, outputs("simd_barrier_half", 1, 32, 4*32))
	expect(t, r, Divergence, lineOf(t, src, "// half of the SIMD group"), "simdgroup_barrier reached by 16 of 32 threads")
}

func TestPartialSIMDGroup(t *testing.T) {
	t.Parallel()
	p, src := wrong(t, Thread)
	r := run(t, p, outputs("simd_half", 1, 64, 4*64))
	expect(t, r, Partial, lineOf(t, src, "// half of the lanes"), "reached by 16 of 32 threads")
	near(t, "simd_half", floats(r.Buffers[0]), func(i int) float64 {
		if i%32 < 16 {
			return 16
		}
		return 0
	})
	r = run(t, p, outputs("absent_lane", 1, 32, 4*32))
	expect(t, r, UndefinedBehaviour, lineOf(t, src, "// lane 8 is not here"), "reads lane 8")
}

func TestUnwrittenThreadgroupMemory(t *testing.T) {
	t.Parallel()
	p, _ := wrong(t, Thread)
	r := clean(t, p, outputs("unwritten", 1, 32, 4*32))
	near(t, "unwritten", floats(r.Buffers[0]), func(i int) float64 {
		if i == 31 {
			return math.NaN()
		}
		return 1
	})
}

// A job that does not fit its kernel is an error, not a report.
func TestJobErrors(t *testing.T) {
	t.Parallel()
	p := build(t, "fault.metal", read(t, "kernels", "fault.metal"), Thread)
	all := []Buffer{{Index: 0, Data: i32(0)}, {Index: 1, Data: f32(1)}, {Index: 2, Data: f32(0), Writable: true},
		{Index: 3, Data: i64(1, 1, 1)}, {Index: 4, Data: make([]byte, 40), Writable: true}}
	short := append([]Buffer{}, all...)
	short[3] = Buffer{Index: 3, Data: i64(1, 1)}
	w, _ := wrong(t, Thread)
	much := outputs("too_much", 1, 1, 4)
	much.Threadgroup = []int{32784}
	for _, c := range []struct {
		p    *Program
		job  Job
		want string
	}{
		{p, Job{Kernel: "scatter", Grid: line(1), Group: line(32), Buffers: all}, "no kernel scatter in the program"},
		{p, Job{Kernel: "gather", Grid: line(1), Group: line(32), Buffers: all[:4]}, "kernel gather: no buffer for index 4"},
		{p, Job{Kernel: "gather", Grid: line(1), Group: line(32), Buffers: short}, "buffer 3 has 16 bytes, its argument takes 24"},
		{p, Job{Kernel: "gather", Grid: line(1), Group: line(2048), Buffers: all}, "a threadgroup of 2048 threads; 1 to 1024 are possible"},
		{p, Job{Kernel: "gather", Grid: line(1), Group: line(32), Buffers: []Buffer{{Index: 31}}}, "the index is 0 to 30"},
		{w, much, "threadgroup memory of 32784 bytes exceeds the limit of 32768 bytes"},
	} {
		_, err := c.p.Run(context.Background(), c.job)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.job.Kernel, err, c.want)
		}
	}
	if r := clean(t, p, Job{Kernel: "gather", Grid: line(0), Group: line(32), Buffers: all}); floats(r.Buffers[2])[0] != 0 {
		t.Error("an empty grid wrote")
	}
}

func TestBuildErrors(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		head + "kernel void k(device float *x [[buffer(0)]]) { float4 v = float4(1.0f); x[0] = y; }": "3:80: error: use of undeclared identifier 'y'",
		head + "kernel void k(device float *x [[buffer(0)]]) { threadgroup float a, b; x[0] = 1; }":  "3:48: outside the checked subset: threadgroup variables",
		head + "constant int n [[function_constant(0)]];":                                            "3:16: outside the checked subset: function constants",
	} {
		_, err := Build(context.Background(), buildDir, "k.metal", []byte(src), 0)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := Build(context.Background(), buildDir, "k.metal", nil, Thread|Address); err == nil {
		t.Error("thread and address sanitizer go together")
	}
}

// The largest group, over more groups than ThreadSanitizer has slots.
func TestLargeGroups(t *testing.T) {
	t.Parallel()
	p := build(t, "lanes.metal", read(t, "kernels", "lanes.metal"), Thread)
	const n = 1024
	x := ramp(n)
	r := clean(t, p, Job{Kernel: "sized", Grid: line(1), Group: line(n), Threadgroup: []int{4 * n}, Buffers: []Buffer{
		{Index: 0, Data: f32(x...)}, {Index: 1, Data: make([]byte, 4*n), Writable: true}}})
	near(t, "sized", floats(r.Buffers[1]), func(i int) float64 { return float64(x[n-1-i]) })
	p = build(t, "matmul.metal", read(t, "kernels", "matmul.metal"), Thread)
	job, want := matmulJob(80, 80, 9)
	near(t, "matmul of 100 groups", floats(clean(t, p, job).Buffers[2]), want)
}

// A group of more threads than the sanitizer tells apart is still watched.
func TestRaceInLargeGroup(t *testing.T) {
	t.Parallel()
	const src = `#include <metal_stdlib>
using namespace metal;
kernel void turn(device int *y [[buffer(0)]], uint tid [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
	threadgroup int a[1024];
	a[tid] = int(tid);
	threadgroup_barrier(mem_flags::mem_threadgroup);
	const int next = a[(tid + 1) % n];
	threadgroup_barrier(mem_flags::mem_threadgroup); // second
	a[tid] = next;
	threadgroup_barrier(mem_flags::mem_threadgroup);
	y[tid] = a[(tid + 1) % n];
}
`
	for _, threads := range []int{256, 512, 1024} {
		clean(t, build(t, "turn.metal", src, Thread), outputs("turn", 1, threads, 4*threads))
		mutant := strings.Replace(src, "threadgroup_barrier(mem_flags::mem_threadgroup); // second", "", 1)
		r := run(t, build(t, "turn.metal", mutant, Thread), outputs("turn", 1, threads, 4*threads))
		if len(r.Reports) == 0 {
			t.Errorf("%d threads without a barrier: no race is reported", threads)
		}
	}
}
