package runtime

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// Places whose lives overlap never share a byte, and the arena is not much
// larger than the most that lives at one time.
func TestArenaLayout(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	var a arena
	for round := range 200 {
		places := make([]place, 1+r.Intn(60))
		for i := range places {
			first := int32(r.Intn(100))
			places[i] = place{bytes: r.Int63n(5000), first: first, last: first + int32(r.Intn(20)), used: r.Intn(10) > 0}
		}
		size := a.layout(places)
		total := int64(0)
		for i := range places {
			p := &places[i]
			if !p.used {
				continue
			}
			total += alignUp(p.bytes)
			if p.off%blockAlign != 0 || p.off < 0 || p.off+p.bytes > size {
				t.Fatalf("round %d: %+v in an arena of %d", round, *p, size)
			}
			for j := range places[:i] {
				q := &places[j]
				if q.used && p.first <= q.last && q.first <= p.last && p.off < q.off+q.bytes && q.off < p.off+p.bytes {
					t.Fatalf("round %d: %+v and %+v share memory", round, *p, *q)
				}
			}
		}
		if size > max(total, blockAlign) {
			t.Errorf("round %d: %d bytes for %d in all", round, size, total)
		}
	}
}

// A chain needs the room of two links, however long it is.
func TestArenaOfAChain(t *testing.T) {
	places := make([]place, 100)
	for i := range places {
		places[i] = place{bytes: 1 << 20, first: int32(i), last: int32(i + 1), used: true}
	}
	var a arena
	if size := a.layout(places); size != 2<<20 {
		t.Errorf("%d bytes, want %d", size, 2<<20)
	}
}

// Places that take over others lie where those did; no other places share a byte while
// they are in use, and the bound is what is in use at one time.
func TestArenaTakeovers(t *testing.T) {
	r := rand.New(rand.NewSource(8))
	var p planner
	p.r = &run{d: &Device{}}
	for round := range 200 {
		p.places, p.takeovers = nil, nil
		for range 1 + r.Intn(60) {
			first := int32(r.Intn(40))
			p.places = append(p.places, place{bytes: int64(1+r.Intn(3)) * 700, first: first, last: first + int32(r.Intn(6)), used: true, base: int32(r.Intn(8) / 7)})
		}
		for range 200 {
			p.takeovers = append(p.takeovers, takeover{int32(r.Intn(len(p.places))), int32(r.Intn(len(p.places)))})
		}
		p.inplace()
		size := p.arena.layout(p.places)
		inUse := map[int32]int64{}
		for i, a := range p.places {
			if a.base != 0 {
				if a.over != 0 || a.next != 0 {
					t.Fatalf("round %d: %+v outside the arena takes over or is taken", round, a)
				}
				continue
			}
			if a.over != 0 {
				from := p.places[a.over-1]
				if from.next != int32(i)+1 || from.last != a.first || from.bytes != a.bytes || from.off != a.off {
					t.Fatalf("round %d: %+v takes over %+v", round, a, from)
				}
			}
			for at := a.first; at <= a.last; at++ {
				if at < a.last || a.next == 0 {
					inUse[at] += alignUp(a.bytes)
				}
			}
			for j, b := range p.places[:i] {
				meet := b.base == 0 && a.first <= b.last && b.first <= a.last && a.off < b.off+b.bytes && b.off < a.off+a.bytes
				if meet && a.over != int32(j)+1 && b.over != int32(i)+1 {
					t.Fatalf("round %d: %+v and %+v share memory", round, a, b)
				}
			}
		}
		most := int64(blockAlign)
		for _, n := range inUse {
			most = max(most, n)
		}
		if p.arena.most != most || size < most {
			t.Errorf("round %d: %d bytes, at most %d at a time, want %d", round, size, p.arena.most, most)
		}
	}
}

// A result takes over an operand only if no other argument is a part of that.
func TestAllowedTakeovers(t *testing.T) {
	kernel := &Kernel{Buffers: []Buffer{
		{Tensor: 0}, {Tensor: 1}, {Tensor: 2},
		{Tensor: 3, Write: true, InPlace: []uint8{0, 1}}, {Tensor: 4, Write: true, InPlace: []uint8{0}},
	}}
	for _, c := range []struct {
		name string
		bufs [5]backend.Buf
		want []takeover
	}{
		{"all apart", [5]backend.Buf{{Slot: 0}, {Slot: 1}, {Slot: 2}, {Slot: 3}, {Slot: 4}}, []takeover{{3, 0}, {3, 1}, {4, 0}}},
		{"both operands one", [5]backend.Buf{{Slot: 0}, {Slot: 0}, {Slot: 2}, {Slot: 3}, {Slot: 4}}, []takeover{{3, 0}, {3, 0}}},
		{"an operand that may not is the same", [5]backend.Buf{{Slot: 0}, {Slot: 1}, {Slot: 0}, {Slot: 3}, {Slot: 4}}, []takeover{{3, 1}}},
		{"a part", [5]backend.Buf{{Slot: 0, Off: 64}, {Slot: 1}, {Slot: 2}, {Slot: 3}, {Slot: 4}}, []takeover{{3, 1}}},
		{"a result in use before", [5]backend.Buf{{Slot: 0}, {Slot: 1}, {Slot: 2}, {Slot: 5}, {Slot: 4}}, []takeover{{4, 0}}},
	} {
		p := planner{places: make([]place, 6)}
		p.places[5].used = true
		p.allowed(kernel, c.bufs[:])
		if !slices.Equal(p.takeovers, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, p.takeovers, c.want)
		}
	}
}
