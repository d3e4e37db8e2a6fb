package runtime

import (
	"cmp"
	"maps"
	"slices"
)

// arena lays places out in one piece of memory so that two of them share bytes
// only if no command lies in the life of both.
type arena struct {
	order []int32
	free  []gap
	ends  []int32 // places by the end of their life, as a heap would give them
	top   int64
}

type gap struct{ off, end int64 }

// layout sets the offsets of all places in the arena and returns its size.
// Places are taken in the order of their first use; each goes to the smallest
// gap that holds it.
func (a *arena) layout(places []place) int64 {
	a.order, a.ends, a.free, a.top = a.order[:0], a.ends[:0], a.free[:0], 0
	for i := range places {
		if places[i].used && places[i].base == 0 {
			a.order = append(a.order, int32(i))
		}
	}
	a.ends = append(a.ends, a.order...)
	slices.SortStableFunc(a.order, func(x, y int32) int { return cmp.Compare(places[x].first, places[y].first) })
	slices.SortStableFunc(a.ends, func(x, y int32) int { return cmp.Compare(places[x].last, places[y].last) })
	ended := 0
	for _, i := range a.order {
		for ended < len(a.ends) && places[a.ends[ended]].last < places[i].first {
			p := &places[a.ends[ended]]
			a.release(gap{p.off, p.off + alignUp(p.bytes)})
			ended++
		}
		places[i].off = a.take(alignUp(places[i].bytes))
	}
	return max(a.top, blockAlign)
}

// atATime returns the most bytes that are in use by one command: no layout is
// smaller.
func atATime(places []place) int64 {
	change := map[int64]int64{} // by command
	for i := range places {
		if p := &places[i]; p.used && p.base == 0 {
			change[int64(p.first)] += alignUp(p.bytes)
			change[int64(p.last)+1] -= alignUp(p.bytes)
		}
	}
	now, most := int64(0), int64(blockAlign)
	for _, at := range slices.Sorted(maps.Keys(change)) {
		now += change[at]
		most = max(most, now)
	}
	return most
}

// alignUp rounds a size up to whole blocks; nothing still gets an address.
func alignUp(n int64) int64 { return max((n+blockAlign-1)/blockAlign, 1) * blockAlign }

// take finds room for n bytes.
func (a *arena) take(n int64) int64 {
	best := -1
	for i, g := range a.free {
		if g.end-g.off >= n && (best < 0 || g.end-g.off < a.free[best].end-a.free[best].off) {
			best = i
		}
	}
	if best >= 0 {
		g := &a.free[best]
		off := g.off
		g.off += n
		if g.off == g.end {
			a.free = slices.Delete(a.free, best, best+1)
		}
		return off
	}
	off := a.top
	if k := len(a.free) - 1; k >= 0 && a.free[k].end == a.top { // extend the last gap
		off = a.free[k].off
		a.free = a.free[:k]
	}
	a.top = off + n
	return off
}

// release gives room back and joins it with its neighbours.
func (a *arena) release(g gap) {
	i, _ := slices.BinarySearchFunc(a.free, g, func(x, y gap) int { return cmp.Compare(x.off, y.off) })
	if i < len(a.free) && a.free[i].off == g.end {
		g.end = a.free[i].end
		a.free = slices.Delete(a.free, i, i+1)
	}
	if i > 0 && a.free[i-1].end == g.off {
		a.free[i-1].end = g.end
		return
	}
	a.free = slices.Insert(a.free, i, g)
}
