package runtime

import (
	"math/rand"
	"testing"
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
