package dataset

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func randomWindows(t *testing.T, n, length, rows int, seed uint64) *RandomWindows {
	t.Helper()
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(i)
	}
	w, err := NewRandomWindows(ids, length, rows, seed)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// draw reads batches as text.
func draw(t *testing.T, w *RandomWindows, n int) []string {
	t.Helper()
	var list []string
	var b Batch
	for range n {
		if err := w.Next(&b); err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(b.Rows, b.Width, b.Dim, b.IDs, b.Mask, b.Target, b.Samples))
	}
	return list
}

// Pieces are whole, side by side in the text, and begin at every place about as often.
func TestRandomWindows(t *testing.T) {
	const n, length, rows, batches = 14, 4, 5, 2000
	w := randomWindows(t, n, length, rows, 1)
	var b Batch
	begins := make([]int, n-length)
	for range batches {
		if err := w.Next(&b); err != nil {
			t.Fatal(err)
		}
		if len(b.IDs) != rows*(length+1) || len(b.Mask) != len(b.IDs) || slices.Contains(b.Mask, 0) {
			t.Fatalf("a batch of %d ids and the mask %v", len(b.IDs), b.Mask)
		}
		for row, from := range b.Samples {
			begins[from]++
			for i, id := range b.IDs[row*b.Width:][:b.Width] {
				if int(id) != from+i {
					t.Fatalf("the piece at %d has %v", from, b.IDs[row*b.Width:][:b.Width])
				}
			}
		}
	}
	for from, count := range begins {
		if want := float64(rows*batches) / float64(n-length); float64(count) < 0.85*want || float64(count) > 1.15*want {
			t.Errorf("%d of %d pieces begin at %d, want about %v", count, rows*batches, from, want)
		}
	}
}

// The same batches follow a state that was restored, and another seed has others.
func TestRandomWindowsResume(t *testing.T) {
	w := randomWindows(t, 1000, 7, 3, 9)
	draw(t, w, 5)
	state, err := json.Marshal(w.State())
	if err != nil {
		t.Fatal(err)
	}
	want := draw(t, w, 4)
	var s State
	if err := json.Unmarshal(state, &s); err != nil {
		t.Fatal(err)
	}
	other := randomWindows(t, 1000, 7, 3, 9)
	if err := other.Restore(s); err != nil {
		t.Fatal(err)
	}
	if got := draw(t, other, 4); !slices.Equal(got, want) {
		t.Errorf("%v follow, want %v", got, want)
	}
	if got := draw(t, randomWindows(t, 1000, 7, 3, 10), 4); slices.Equal(got, draw(t, randomWindows(t, 1000, 7, 3, 9), 4)) {
		t.Error("two seeds draw the same")
	}
	for _, w := range []*RandomWindows{randomWindows(t, 999, 7, 3, 9), randomWindows(t, 1000, 8, 3, 9), randomWindows(t, 1000, 7, 2, 9), randomWindows(t, 1000, 7, 3, 8)} {
		if err := w.Restore(s); err == nil || !strings.Contains(err.Error(), "another text or configuration") {
			t.Errorf("the error is %v", err)
		}
	}
	s.Batch = -1
	if err := other.Restore(s); err == nil {
		t.Error("a negative number of batches is restored")
	}
}

func TestRandomWindowsRefuse(t *testing.T) {
	for _, c := range []struct {
		ids, length, rows int
		want              string
	}{
		{4, 4, 1, "the text has 4"},
		{9, 0, 1, "must be positive"},
		{9, 4, 0, "must be positive"},
		{9, 1 << 20, 1 << 20, "fewer than 2^31"},
	} {
		if _, err := NewRandomWindows(make([]int32, c.ids), c.length, c.rows, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: the error is %v", c, err)
		}
	}
}
