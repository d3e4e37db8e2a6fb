package sim

import "testing"

const twoPasses = `#include <metal_stdlib>
using namespace metal;
struct Size { long n; };
kernel void passes(device const float *x [[buffer(0)]], device const float *w [[buffer(1)]], device float *y [[buffer(2)]],
                   constant Size &size [[buffer(3)]], uint tid [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
  threadgroup float seen[32];
  device const float *row = x + group * size.n;
  float sum = 0.0f;
  for (long i = tid; i < size.n; i += 32) sum += row[i];
  seen[tid] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float4 four = *(device const float4 *)(w + 4 * (tid % 2));
  for (long i = tid; i < size.n; i += 32) y[group * size.n + i] = row[i] * (four.x + four.y + four.z + four.w) + seen[31 - tid];
}
`

// A byte counts as often as the thread that loads it most loads it; what groups and
// threads share counts once, and memory that is no buffer not at all.
func TestTraffic(t *testing.T) {
	t.Parallel()
	const n, groups = 100, 3
	p := build(t, "passes.metal", twoPasses, Traffic)
	r := clean(t, p, Job{Kernel: "passes", Grid: line(groups), Group: line(32), Buffers: []Buffer{
		{Index: 0, Data: f32(ramp(n * groups)...)}, {Index: 1, Data: f32(ramp(16)...)}, {Index: 2, Data: make([]byte, 4*n*groups), Writable: true},
		{Index: 3, Data: i64(n)}}})
	want := []Moved{
		{Loaded: 2 * 4 * n * groups, LoadsAsked: 2 * 4 * n * groups},
		{Loaded: 32, LoadsAsked: 16 * 32 * groups},
		{Stored: 4 * n * groups, StoresAsked: 4 * n * groups},
	}
	for i, w := range want {
		if r.Moved[i] != w {
			t.Errorf("buffer %d: %+v, want %+v", i, r.Moved[i], w)
		}
	}
	if clean(t, build(t, "passes.metal", twoPasses, 0), Job{Kernel: "passes", Grid: line(0), Group: line(32), Buffers: []Buffer{
		{Index: 0}, {Index: 1}, {Index: 2}, {Index: 3, Data: i64(n)}}}).Moved != nil {
		t.Error("a run that counts nothing has counts")
	}
}
