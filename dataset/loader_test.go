package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// lengths is a source whose sample i has so many ids, all i, and the target i.
type lengths []int

func (l lengths) Len() int         { return len(l) }
func (l lengths) Tokens(i int) int { return l[i] }
func (l lengths) Dim() int         { return 1 }

func (l lengths) Read(i int, s *Sample) error {
	s.IDs, s.Mask = s.IDs[:0], s.Mask[:0]
	for range l[i] {
		s.IDs, s.Mask = append(s.IDs, int32(i)), append(s.Mask, 1)
	}
	s.Target = append(s.Target[:0], float32(i))
	return nil
}

func random(n, longest int) lengths {
	r := rand.New(rand.NewPCG(3, 4))
	l := make(lengths, n)
	for i := range l {
		l[i] = r.IntN(longest + 1)
	}
	return l
}

// epoch reads batches up to the end of an epoch, as text.
func epoch(t *testing.T, l *Loader) []string {
	t.Helper()
	var list []string
	var b Batch
	for {
		err := l.Next(&b)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(b.Rows, b.Width, b.IDs, b.Mask, b.Target, b.Samples))
	}
}

func loader(t *testing.T, src Source, cfg Config) *Loader {
	t.Helper()
	l, err := NewLoader(src, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLoaderPads(t *testing.T) {
	l := loader(t, lengths{1, 3, 2, 0, 4}, Config{Batch: 2, Widths: []int{2, 4}, Pad: 9})
	want := []string{
		"2 2 [0 9 2 2] [1 0 1 1] [0 2] [0 2]",
		"2 4 [1 1 1 9 4 4 4 4] [1 1 1 0 1 1 1 1] [1 4] [1 4]",
		"1 2 [9 9] [0 0] [3] [3]",
	}
	for range 2 {
		if got := epoch(t, l); !slices.Equal(got, want) {
			t.Errorf("the batches are %q, want %q", got, want)
		}
	}
	if l.Batches() != 3 {
		t.Errorf("%d batches, want 3", l.Batches())
	}
}

func TestLoaderTruncates(t *testing.T) {
	src := lengths{1, 5}
	_, err := NewLoader(src, Config{Batch: 2, Widths: []int{2, 4}})
	if want := "sample 1 has 5 ids, the widest batch is 4"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	l := loader(t, src, Config{Batch: 1, Widths: []int{2, 4}, Truncate: true})
	if got := epoch(t, l)[1]; got != "1 4 [1 1 1 1] [1 1 1 1] [1] [1]" {
		t.Errorf("the batch is %s", got)
	}
}

// In each epoch each sample comes once, where it is padded least, in another order.
func TestLoaderShuffles(t *testing.T) {
	src := random(500, 40)
	cfg := Config{Batch: 16, Widths: []int{8, 16, 32, 40}, Shuffle: true, Seed: 5}
	l := loader(t, src, cfg)
	var first []int
	var b Batch
	for e := range 3 {
		var order []int
		n := 0
		for ; ; n++ {
			err := l.Next(&b)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			order = append(order, b.Samples...)
			for _, i := range b.Samples {
				if src[i] > b.Width || slices.ContainsFunc(cfg.Widths, func(w int) bool { return w >= src[i] && w < b.Width }) {
					t.Fatalf("a sample of %d ids is in a batch %d wide", src[i], b.Width)
				}
			}
		}
		if n != l.Batches() {
			t.Errorf("epoch %d has %d batches, want %d", e, n, l.Batches())
		}
		if e == 0 {
			first = slices.Clone(order)
		} else if slices.Equal(order, first) {
			t.Errorf("epoch %d has the order of the first", e)
		}
		slices.Sort(order)
		for i := range order {
			if order[i] != i {
				t.Fatalf("epoch %d: sample %d is missing or comes twice", e, i)
			}
		}
	}
	same, other := cfg, cfg
	other.Seed = 6
	a := epoch(t, loader(t, src, cfg))
	if !slices.Equal(a, epoch(t, loader(t, src, same))) {
		t.Error("one seed gives two orders")
	}
	if slices.Equal(a, epoch(t, loader(t, src, other))) {
		t.Error("two seeds give one order")
	}
}

// The order of a seed is written down: a saved state must mean the same for ever.
func TestLoaderOrderIsFixed(t *testing.T) {
	l := loader(t, lengths{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, Config{Batch: 10, Shuffle: true, Seed: 7})
	var b Batch
	if err := l.Next(&b); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(b.Samples), "[7 8 6 4 3 5 1 0 9 2]"; got != want {
		t.Errorf("the order of seed 7 is %s, want %s", got, want)
	}
}

// Every order of four samples is about equally frequent.
func TestShuffleIsFair(t *testing.T) {
	const rounds = 24000
	counts := map[[4]int32]int{}
	rng := rand.NewPCG(1, 1)
	for range rounds {
		list := [4]int32{0, 1, 2, 3}
		shuffle(rng, list[:])
		counts[list]++
	}
	for order, n := range counts {
		// 1000 expected, with a standard deviation of 31.
		if n < 850 || n > 1150 {
			t.Errorf("order %v comes %d times of %d", order, n, rounds)
		}
	}
	if len(counts) != 24 {
		t.Errorf("%d orders of 24", len(counts))
	}
}

// A loader that is restored from a state, saved before any batch and at the end of
// an epoch, gives what follows in the loader that went on.
func TestLoaderResumes(t *testing.T) {
	src := random(60, 20)
	cfg := Config{Batch: 7, Widths: []int{5, 10, 20}, Shuffle: true, Seed: 1}
	next := func(l *Loader) string {
		var b Batch
		if err := l.Next(&b); err != nil {
			return err.Error()
		}
		return fmt.Sprint(b.Width, b.IDs, b.Samples)
	}
	l := loader(t, src, cfg)
	var events []string
	var states [][]byte
	for range 4 * (l.Batches() + 1) {
		state, err := json.Marshal(l.State())
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, state)
		events = append(events, next(l))
	}
	for i := range states[:3*(l.Batches()+1)] {
		var state State
		if err := json.Unmarshal(states[i], &state); err != nil {
			t.Fatal(err)
		}
		again := loader(t, src, cfg)
		if err := again.Restore(state); err != nil {
			t.Fatal(err)
		}
		for j := i; j < i+l.Batches()+1; j++ {
			if got := next(again); got != events[j] {
				t.Fatalf("from %s on, step %d is %s, want %s", states[i], j-i, got, events[j])
			}
		}
	}
}

func TestRestoreRefuses(t *testing.T) {
	src, cfg := random(60, 20), Config{Batch: 7, Shuffle: true}
	state := loader(t, src, cfg).State()
	for name, change := range map[string]func(*Config){
		"batch":   func(c *Config) { c.Batch = 8 },
		"seed":    func(c *Config) { c.Seed = 1 },
		"widths":  func(c *Config) { c.Widths = []int{10, 20} },
		"shuffle": func(c *Config) { c.Shuffle = false },
	} {
		other := cfg
		change(&other)
		if err := loader(t, src, other).Restore(state); err == nil {
			t.Errorf("%s: the state of another configuration is taken", name)
		}
	}
	longer := slices.Clone(src)
	longer[10] = 20 - longer[10]
	if err := loader(t, longer, cfg).Restore(state); err == nil {
		t.Error("the state of other samples is taken")
	}
	for _, bad := range []State{{-1, 0, state.Order}, {0, -1, state.Order}, {0, 100, state.Order}} {
		if err := loader(t, src, cfg).Restore(bad); err == nil {
			t.Errorf("the state %v is taken", bad)
		}
	}
}

func TestNewLoaderRefuses(t *testing.T) {
	for _, c := range []struct {
		src  lengths
		cfg  Config
		want string
	}{
		{lengths{}, Config{Batch: 1}, "no samples"},
		{lengths{1}, Config{}, "batches of 0"},
		{lengths{1}, Config{Batch: 1, Widths: []int{0}}, "must be positive and rise"},
		{lengths{1}, Config{Batch: 1, Widths: []int{4, 4}}, "must be positive and rise"},
		{lengths{1}, Config{Batch: 1, Widths: []int{4, 2}}, "must be positive and rise"},
	} {
		if _, err := NewLoader(c.src, c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// A bad sample stops the loader at its batch, and says where it stands.
func TestLoaderPassesErrors(t *testing.T) {
	b := le([]byte("EFB1"), 2, 0, 1, 7)
	b = append(b, 1)
	b = append(le(b, 1, 7), 2)
	path := put(t, "bad.efb", b)
	f, err := OpenEFB(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := loader(t, f, Config{Batch: 1})
	var batch Batch
	if err := l.Next(&batch); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		err := l.Next(&batch)
		if want := filepath.Base(path) + ": sample 1 at byte 21: mask[0] is 2"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if s := l.State(); s.Batch != 1 {
		t.Errorf("the loader stands at batch %d, want 1", s.Batch)
	}
}
