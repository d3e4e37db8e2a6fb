package runtime

import (
	"cmp"
	"math"
	"slices"
)

// arena lays places out in one piece of memory so that two of them share bytes
// only if no command lies in the life of both, or one takes over the other.
type arena struct {
	regions []region
	ends    []int32 // regions by the end of their life, as a heap would give them
	free    []gap
	top     int64
	most    int64 // bytes in use by one command: no layout is smaller
}

// region is the memory of a place and of those that take it over one after the other.
type region struct {
	place       int32
	first, last int32 // commands that use it
	bytes, off  int64
}

type gap struct{ off, end int64 }

// collect finds the regions of the places in the arena.
func (a *arena) collect(places []place) {
	a.regions = a.regions[:0]
	for i := range places {
		p := &places[i]
		if !p.used || p.base != 0 || p.over != 0 {
			continue
		}
		end := p
		for end.next != 0 {
			end = &places[end.next-1]
		}
		a.regions = append(a.regions, region{place: int32(i), first: p.first, last: end.last, bytes: alignUp(p.bytes)})
	}
}

// manyRegions are more than are placed by size, which takes the square of their number
// in time.
const manyRegions = 4096

// layout sets the offsets of all places in the arena and returns its size. Placing
// them in the order of time is quick and mostly leaves no gaps; where it leaves some,
// placing the largest first may do better.
func (a *arena) layout(places []place) int64 {
	a.collect(places)
	size := a.byTime()
	if size > a.most && len(a.regions) < manyRegions {
		if regions, n := bySize(a.regions); n < size {
			a.regions, size = regions, n
		}
	}
	for _, r := range a.regions {
		for i := r.place + 1; i != 0; i = places[i-1].next {
			places[i-1].off = r.off
		}
	}
	return max(size, blockAlign)
}

// byTime places the regions in the order of their first use, each into the smallest
// gap that holds it, and returns the size of the arena.
func (a *arena) byTime() int64 {
	a.ends, a.free, a.top, a.most = a.ends[:0], a.free[:0], 0, blockAlign
	slices.SortStableFunc(a.regions, func(x, y region) int { return cmp.Compare(x.first, y.first) })
	for i := range a.regions {
		a.ends = append(a.ends, int32(i))
	}
	slices.SortStableFunc(a.ends, func(x, y int32) int { return cmp.Compare(a.regions[x].last, a.regions[y].last) })
	ended, used := 0, int64(0)
	for i := range a.regions {
		r := &a.regions[i]
		for ; ended < len(a.ends) && a.regions[a.ends[ended]].last < r.first; ended++ {
			e := &a.regions[a.ends[ended]]
			a.release(gap{e.off, e.off + e.bytes})
			used -= e.bytes
		}
		r.off = a.take(r.bytes)
		used += r.bytes
		a.most = max(a.most, used)
	}
	return a.top
}

// bySize places regions in the order of their size, those of one size in the order of
// the length of their lives, each into the smallest gap between those that are in use
// at the same time. It returns the regions and the size of the arena.
func bySize(regions []region) ([]region, int64) {
	regions = slices.Clone(regions)
	slices.SortStableFunc(regions, func(x, y region) int {
		return cmp.Or(cmp.Compare(y.bytes, x.bytes), cmp.Compare(y.last-y.first, x.last-x.first))
	})
	var placed []region // by offset
	size := int64(0)
	for i := range regions {
		r := &regions[i]
		top, best := int64(0), int64(math.MaxInt64)
		for _, p := range placed {
			if p.last < r.first || r.last < p.first {
				continue
			}
			if room := p.off - top; room >= r.bytes && room < best {
				r.off, best = top, room
			}
			top = max(top, p.off+p.bytes)
		}
		if best == math.MaxInt64 {
			r.off = top
		}
		size = max(size, r.off+r.bytes)
		at, _ := slices.BinarySearchFunc(placed, *r, func(x, y region) int { return cmp.Compare(x.off, y.off) })
		placed = slices.Insert(placed, at, *r)
	}
	return regions, size
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
