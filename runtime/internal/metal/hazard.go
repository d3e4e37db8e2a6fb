package metal

// access is what a command does to a range of memory: bytes from to end-1 of a slot.
type access struct {
	slot      int32
	from, end int64
	write     bool
}

// hazards says between which commands a barrier must stand, where commands without one
// between them run in any order or at once.
type hazards struct {
	since []access // of the commands since the last barrier
}

// next adds a command and reports whether a barrier must stand before it.
func (h *hazards) next(list []access) bool {
	barrier := false
	for _, a := range list {
		for _, b := range h.since {
			if a.slot == b.slot && (a.write || b.write) && a.from < b.end && b.from < a.end {
				barrier = true
			}
		}
	}
	if barrier {
		h.since = h.since[:0]
	}
	h.since = append(h.since, list...)
	return barrier
}

// settle notes that all commands so far are over before the next one begins.
func (h *hazards) settle() { h.since = h.since[:0] }
