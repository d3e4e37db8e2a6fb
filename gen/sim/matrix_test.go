package sim

import "testing"

// halfs are the bits of small integers as halfs.
func halfs(n int, value func(i int) int) []byte {
	bits := map[int]uint16{-2: 0xc000, -1: 0xbc00, 0: 0, 1: 0x3c00, 2: 0x4000}
	var out []byte
	for i := range n {
		out = append(out, byte(bits[value(i)]), byte(bits[value(i)]>>8))
	}
	return out
}

func TestRunMatrices(t *testing.T) {
	t.Parallel()
	src := read(t, "kernels", "blocks.metal")
	a := func(i int) int { return i*7%5 - 2 }
	b := func(i int) int { return i*3%4 - 1 }
	want := func(i int) float64 {
		sum := 0
		for k := range 8 {
			for l := range 8 {
				sum += a(i/8*8+l) * b(l*8+k) * b(i%8*8+k)
			}
		}
		return float64(sum)
	}
	for _, san := range builds {
		p := build(t, "blocks.metal", src, san)
		r := clean(t, p, Job{Kernel: "chain", Grid: line(1), Group: line(32), Buffers: []Buffer{
			{Index: 0, Data: halfs(64, a)}, {Index: 1, Data: halfs(64, b)}, {Index: 2, Data: make([]byte, 256), Writable: true}}})
		near(t, "chain", floats(r.Buffers[2]), want)
		r = clean(t, p, outputs("unit", 1, 32, 256))
		near(t, "unit", floats(r.Buffers[0]), func(i int) float64 {
			if i%9 == 0 {
				return 2
			}
			return 0
		})
	}
}

// What reads past the end, and what not all threads of a SIMD group reach, is found.
func TestWrongMatrices(t *testing.T) {
	t.Parallel()
	src := read(t, "kernels", "blocks.metal")
	p := build(t, "blocks.metal", src, Address|Undefined)
	r := run(t, p, outputs("parted", 1, 32, 128))
	expect(t, r, UndefinedBehaviour, lineOf(t, src, "// not by all threads"), "does not take part")
	expect(t, r, Partial, lineOf(t, src, "// not by all threads"), "20 of 32")
	r = run(t, p, outputs("unit", 1, 32, 252))
	expect(t, r, Bounds, lineOf(t, src, "	simdgroup_store(m, y);"), "")
}
