package metal

import "testing"

// A barrier stands where a command uses what one since the last barrier wrote, or writes
// what it used, and nowhere else.
func TestHazards(t *testing.T) {
	read := func(slot int32, from, end int64) access { return access{slot, from, end, false} }
	write := func(slot int32, from, end int64) access { return access{slot, from, end, true} }
	for name, steps := range map[string][]struct {
		uses    []access
		barrier bool
	}{
		"reads":              {{[]access{read(0, 0, 8)}, false}, {[]access{read(0, 0, 8)}, false}},
		"read after write":   {{[]access{write(0, 0, 8)}, false}, {[]access{read(0, 7, 9)}, true}},
		"write after read":   {{[]access{read(0, 0, 8)}, false}, {[]access{write(0, 4, 8)}, true}},
		"write after write":  {{[]access{write(0, 0, 8)}, false}, {[]access{write(0, 0, 1)}, true}},
		"side by side":       {{[]access{write(0, 0, 8)}, false}, {[]access{write(0, 8, 16)}, false}},
		"other slots":        {{[]access{write(0, 0, 8)}, false}, {[]access{read(1, 0, 8)}, false}},
		"one barrier serves": {{[]access{write(0, 0, 8), write(1, 0, 8)}, false}, {[]access{read(0, 0, 8)}, true}, {[]access{read(1, 0, 8)}, false}},
		"behind a barrier": {
			{[]access{write(0, 0, 8)}, false}, {[]access{read(0, 0, 8), write(1, 0, 8)}, true}, {[]access{write(0, 0, 8)}, true}, {[]access{read(1, 0, 8)}, false},
		},
	} {
		var h hazards
		for i, s := range steps {
			if got := h.next(s.uses); got != s.barrier {
				t.Errorf("%s: barrier before command %d: %v, want %v", name, i, got, s.barrier)
			}
		}
	}
}
