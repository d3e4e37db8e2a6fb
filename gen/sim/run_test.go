package sim

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"
)

func TestRunMap(t *testing.T) {
	t.Parallel()
	src := read(t, "kernels", "map.metal")
	for _, san := range builds {
		p := build(t, "map.metal", src, san)
		for _, n := range []int{0, 1, 3, 4, 255, 256, 257, 1027} {
			x := ramp(n)
			args := append(i64(int64(n)), f32(1.5, 0)...)
			r := clean(t, p, Job{Kernel: "scale", Grid: line((n + 255) / 256), Group: line(64), Buffers: []Buffer{
				{Index: 0, Data: f32(x...)}, {Index: 1, Data: make([]byte, 4*n), Writable: true}, {Index: 2, Data: args},
			}})
			near(t, fmt.Sprintf("scale of %d", n), floats(r.Buffers[1]), func(i int) float64 { return float64(x[i]) * 1.5 })
		}
	}
}

func TestRunHalfAndBfloat(t *testing.T) {
	t.Parallel()
	src := read(t, "kernels", "map.metal")
	// 1, -2, 0.5 and infinity in each format.
	halves := []byte{0x00, 0x3c, 0x00, 0xc0, 0x00, 0x38, 0x00, 0x7c}
	brains := []byte{0x80, 0x3f, 0x00, 0xc0, 0x00, 0x3f, 0x80, 0x7f}
	for _, san := range builds {
		p := build(t, "map.metal", src, san)
		job := func(kernel string, x []byte) Job {
			return Job{Kernel: kernel, Grid: line(1), Group: line(64), Buffers: []Buffer{
				{Index: 0, Data: x}, {Index: 1, Data: make([]byte, 8), Writable: true}, {Index: 2, Data: i64(4)}}}
		}
		y := clean(t, p, job("silu_f16", halves)).Buffers[1]
		// silu: 0.7310586, -0.23840584, 0.31122968, inf to nearest even.
		for i, want := range []uint16{0x39d9, 0xb3a1, 0x34fb, 0x7c00} {
			if got := binary.LittleEndian.Uint16(y[2*i:]); got != want {
				t.Errorf("silu_f16 %d is %#04x, want %#04x", i, got, want)
			}
		}
		y = clean(t, p, job("widen_bf16", brains)).Buffers[1]
		for i, want := range []uint16{0x4000, 0x40a0, 0x3fa0, 0x7f80} {
			if got := binary.LittleEndian.Uint16(y[2*i:]); got != want {
				t.Errorf("widen_bf16 %d is %#04x, want %#04x", i, got, want)
			}
		}
	}
}

func softmaxJob(rows, d int, x []float32) Job {
	return Job{Kernel: "softmax", Grid: line(rows), Group: line(64), Buffers: []Buffer{
		{Index: 0, Data: f32(x...)}, {Index: 1, Data: make([]byte, 4*rows*d), Writable: true}, {Index: 2, Data: i64(int64(rows), int64(d))}}}
}

func TestRunSoftmax(t *testing.T) {
	t.Parallel()
	src := read(t, "kernels", "softmax.metal")
	for _, san := range builds {
		p := build(t, "softmax.metal", src, san)
		for _, d := range []int{1, 5, 64, 130} {
			const rows = 3
			x := ramp(rows * d)
			r := clean(t, p, softmaxJob(rows, d, x))
			near(t, "softmax", floats(r.Buffers[1]), func(i int) float64 {
				sum := 0.0
				for _, v := range x[i/d*d : i/d*d+d] {
					sum += math.Exp(float64(v))
				}
				return math.Exp(float64(x[i])) / sum
			})
		}
	}
}

func matmulJob(m, n, k int) (Job, func(i int) float64) {
	a, b := ramp(m*k), ramp(k*n)
	want := func(i int) float64 {
		sum := 0.0
		for j := range k {
			sum += float64(a[i/n*k+j]) * float64(b[j*n+i%n])
		}
		return sum
	}
	return Job{Kernel: "matmul", Grid: [3]int{(n + 7) / 8, (m + 7) / 8, 1}, Group: line(64), Buffers: []Buffer{
		{Index: 0, Data: f32(a...)}, {Index: 1, Data: f32(b...)}, {Index: 2, Data: make([]byte, 4*m*n), Writable: true},
		{Index: 3, Data: i32(int32(m), int32(n), int32(k))}}}, want
}

func TestRunMatmul(t *testing.T) {
	t.Parallel()
	src := read(t, "kernels", "matmul.metal")
	for _, san := range builds {
		p := build(t, "matmul.metal", src, san)
		for _, s := range [][3]int{{8, 8, 8}, {9, 17, 5}, {3, 2, 0}, {16, 8, 24}} {
			job, want := matmulJob(s[0], s[1], s[2])
			near(t, fmt.Sprint("matmul ", s), floats(clean(t, p, job).Buffers[2]), want)
		}
	}
}

// The first of several bad ids is in the fault word, whole; the other threads
// write what they should.
func TestRunFault(t *testing.T) {
	t.Parallel()
	src := read(t, "kernels", "fault.metal")
	for _, san := range builds {
		p := build(t, "fault.metal", src, san)
		r := clean(t, p, Job{Kernel: "gather", Grid: line(1), Group: line(32), Buffers: []Buffer{
			{Index: 0, Data: i32(2, 9, -1, 0)},
			{Index: 1, Data: f32(1, 2, 3, 4, 5, 6)},
			{Index: 2, Data: make([]byte, 4*8), Writable: true},
			{Index: 3, Data: i64(4, 3, 2)},
			{Index: 4, Data: make([]byte, 40), Writable: true},
		}})
		near(t, "gather", floats(r.Buffers[2]), func(i int) float64 { return []float64{5, 6, 0, 0, 0, 0, 1, 2}[i] })
		fault := r.Buffers[4]
		for i, want := range []uint32{1, 1, 7, 1} {
			if got := binary.LittleEndian.Uint32(fault[4*i:]); got != want {
				t.Errorf("word %d of the fault is %d, want %d", i, got, want)
			}
		}
		pos, value := int64(binary.LittleEndian.Uint64(fault[16:])), int64(binary.LittleEndian.Uint64(fault[24:]))
		if !(pos == 1 && value == 9) && !(pos == 2 && value == -1) {
			t.Errorf("the fault names position %d with value %d", pos, value)
		}
	}
}

func TestRunLanes(t *testing.T) {
	t.Parallel()
	p := build(t, "lanes.metal", read(t, "kernels", "lanes.metal"), Address|Undefined)
	const n = 64
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i * i % 23)
	}
	r := clean(t, p, Job{Kernel: "lanes", Grid: line(1), Group: line(n), Buffers: []Buffer{
		{Index: 0, Data: f32(x...)}, {Index: 1, Data: make([]byte, 4*n*14), Writable: true}}})
	near(t, "lanes", floats(r.Buffers[1]), func(i int) float64 {
		first, lane := i%n/32*32, i%n%32
		return laneValue(i/n, lane, x[first:first+32])
	})
}

// laneValue is what the functions of the kernel lanes give in a lane.
func laneValue(function, lane int, x []float32) float64 {
	sum := func(v []float32) (s float64) {
		for _, f := range v {
			s += float64(f)
		}
		return s
	}
	top, bottom, above := x[0], x[0], 0
	for _, v := range x {
		top, bottom = max(top, v), min(bottom, v)
		if v > 10 {
			above++
		}
	}
	down, up, fill := x[lane], x[lane], float32(-1)
	if lane+3 < 32 {
		down = x[lane+3]
	}
	if lane >= 3 {
		up = x[lane-3]
	}
	if lane+2 < 32 {
		fill = x[lane+2]
	}
	return []float64{sum(x), float64(top), float64(bottom), float64(x[lane^5]), float64(down), float64(up), float64(x[7]),
		sum(x[:lane]), sum(x[:lane+1]), float64(above), float64(x[lane^1]), sum(x[lane/4*4 : lane/4*4+4]), float64(fill), float64(x[(lane+31)%32])}[function]
}

func TestRunPlaces(t *testing.T) {
	t.Parallel()
	p := build(t, "lanes.metal", read(t, "kernels", "lanes.metal"), Address|Undefined)
	r := clean(t, p, Job{Kernel: "places", Grid: [3]int{2, 3, 2}, Group: [3]int{8, 4, 2}, Buffers: []Buffer{
		{Index: 0, Data: make([]byte, 4*16*12*4), Writable: true}}})
	for i := range 16 * 12 * 4 {
		x, y, z := i%16, i/16%12, i/(16*12)
		want := uint32(x/8 + 10*(y/4) + 100*(z/2))
		if got := binary.LittleEndian.Uint32(r.Buffers[0][4*i:]); got != want {
			t.Fatalf("thread (%d,%d,%d) is in group %d, want %d", x, y, z, got, want)
		}
	}
}

func TestRunThreadgroupArgument(t *testing.T) {
	t.Parallel()
	p := build(t, "lanes.metal", read(t, "kernels", "lanes.metal"), Address|Undefined)
	x := ramp(48)
	job := Job{Kernel: "sized", Grid: line(1), Group: line(48), Threadgroup: []int{4 * 48}, Buffers: []Buffer{
		{Index: 0, Data: f32(x...)}, {Index: 1, Data: make([]byte, 4*48), Writable: true}}}
	r := clean(t, p, job)
	near(t, "sized", floats(r.Buffers[1]), func(i int) float64 { return float64(x[47-i]) })
}

func TestRunFunctions(t *testing.T) {
	t.Parallel()
	p := build(t, "lanes.metal", read(t, "kernels", "lanes.metal"), Address|Undefined)
	x := []float32{2.75, 1, 6.5, 100.125}
	r := clean(t, p, Job{Kernel: "functions", Grid: line(1), Group: line(len(x)), Buffers: []Buffer{
		{Index: 0, Data: f32(x...)}, {Index: 1, Data: make([]byte, 4*16*len(x)), Writable: true}}})
	near(t, "functions", floats(r.Buffers[1]), func(i int) float64 { return functionValue(i%16, float64(x[i/16])) })
}

func functionValue(function int, v float64) float64 {
	frac, exp := math.Frexp(v)
	whole, part := math.Modf(v)
	half := map[float64]float64{100.125: 100.125}
	brain := map[float64]float64{100.125: 100}
	rounded := func(m map[float64]float64) float64 {
		if r, ok := m[v]; ok {
			return r
		}
		return v
	}
	choice := 1.0
	if v > 1 {
		choice = 2
	}
	high := uint64(0xD2511F53) * uint64(0xCD9E8D57) >> 32
	zeros := 31 - math.Floor(math.Log2(whole))
	return []float64{frac, float64(exp), part, whole, 1 / math.Sqrt(v), v - math.Floor(v), 1, rounded(half), rounded(brain), -v,
		choice, v*v + 1, zeros + float64(high), math.Pow(10, v/10), math.RoundToEven(v), v + 5}[function]
}

func TestRunRareFunctions(t *testing.T) {
	t.Parallel()
	src := read(t, "kernels", "rare.metal")
	r := clean(t, build(t, "rare.metal", src, Address|Undefined), outputs("rare", 1, 32, 4*16*32))
	near(t, "rare", floats(r.Buffers[0]), func(i int) float64 { return rareValue(i%16, i/16) })
}

// rareValue is what the functions of the kernel rare give in a lane: the bits of halfs,
// then Snell's law and the like.
func rareValue(function, lane int) float64 {
	quad, pair, moved := float64(lane+1), float64(lane-1), float64(lane+1)
	if lane%4 == 3 {
		quad = 100 + float64(lane-3)
	}
	if lane%2 == 0 {
		pair = 100 + float64(lane+1)
	}
	if lane == 31 {
		moved = 31
	}
	sine := 0.5 * 0.6
	return []float64{0x8001, 0x3c01, 0xbbff, 0.8, sine, -math.Sqrt(1 - sine*sine), 0, 1, -15 + 2, 3, 1, quad, pair, 32, moved,
		float64(math.Nextafter32(1, 0))}[function]
}
