package main

import (
	"context"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/runtime"
)

const book = "../../data/moby-dick.txt"

// TestLastLine trains for a moment and reads the result as a user would.
func TestLastLine(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, book, 1, 150, runtime.WithWorkers(2)); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	last := lines[len(lines)-1]
	re := regexp.MustCompile(`^held-out: (\d\.\d\d) nats/char \(bigram 2\.46, trigram 2\.01\), 150 steps, \d+ chars/s$`)
	m := re.FindStringSubmatch(last)
	if m == nil {
		t.Fatalf("last line is %q", last)
	}
	if m[1] > "2.60" {
		t.Errorf("after 150 steps the held-out loss is %s, want at most 2.60", m[1])
	}
}

// TestSameBits: the seed fixes every bit, whatever the number of workers.
func TestSameBits(t *testing.T) {
	want := losses(t, runtime.WithWorkers(1), 40)
	for _, workers := range []int{1, 2, 3} {
		for i, v := range losses(t, runtime.WithWorkers(workers), 40) {
			if math.Float32bits(v) != math.Float32bits(want[i]) {
				t.Fatalf("%d workers: loss of step %d is %v, first run had %v", workers, i+1, v, want[i])
			}
		}
	}
	if want[len(want)-1] >= want[0] {
		t.Errorf("loss went from %v to %v", want[0], want[len(want)-1])
	}
}

func losses(t *testing.T, device runtime.Option, n int) []float32 {
	t.Helper()
	text, err := readCorpus(book)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := runtime.Open(device)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	m, err := newModel(dev, len(text.chars), 7)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := newTrainer(m, text.train, 7)
	if err != nil {
		t.Fatal(err)
	}
	var out []float32
	for i := 1; i <= n; i++ {
		v, err := tr.step(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// TestInterrupt: a cancelled context stops the training and closes the device.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, io.Discard, book, 1, 10, runtime.WithWorkers(2)); !errors.Is(err, context.Canceled) {
		t.Fatalf("error is %v, want context.Canceled", err)
	}
}

// TestNgram holds a probability of the count model of a small text, worked out
// by hand.
func TestNgram(t *testing.T) {
	m := countNgrams([]int32{0, 1, 0}, 2, 2)
	// unigram of b: (1 + 2·1/2)/(3+2) = 0.4; b after a: (1 + 1·0.4)/(1+1) = 0.7
	if got := m.probability([]int32{0, 1}); math.Abs(got-0.7) > 1e-12 {
		t.Errorf("probability of b after a is %v, want 0.7", got)
	}
	sum := m.probability([]int32{0, 0}) + m.probability([]int32{0, 1})
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("probabilities after a sum to %v", sum)
	}
}

// largestError is by how much got differs from want at most, as a part of want.
func largestError(got, want []float32) float32 {
	worst := float32(0)
	for i := range want {
		worst = max(worst, max(got[i]-want[i], want[i]-got[i])/want[i])
	}
	return worst
}
