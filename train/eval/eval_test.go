package eval

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/internal/pytest"
)

// By hand: the rows (3, 4), (1, 0) and (0, -2) beside the targets (4, 3), (0, 1) and
// (0, -1). The first is as near to its own target as 24/25, and to the second 4/5. The
// second is at right angles to its own, and as near to the third, but nearer to the
// first. The third is its own.
func TestByHand(t *testing.T) {
	v, err := Compare([][]float32{{3, 4}, {1, 0}, {0, -2}}, [][]float32{{4, 3}, {0, 1}, {0, -1}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.96, 0, 1} {
		if got := v.Cosines[i]; math.Abs(got-want) > 1e-15 {
			t.Errorf("cosine %d is %v, want %v", i, got, want)
		}
	}
	const cosine, mse = 1.96 / 3, (1 + 1 + 1 + 1 + 0 + 1) / 6.0
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"cosine", v.Cosine(), cosine},
		{"MSE", v.MSE, mse},
		{"loss", v.Loss(2, 0.5), 2*(1-cosine) + 0.5*mse},
		{"retrieval@1", v.Retrieval(1), 2.0 / 3},
		{"retrieval@2", v.Retrieval(2), 2.0 / 3},
		{"retrieval@3", v.Retrieval(3), 1},
	} {
		if math.Abs(c.got-c.want) > 1e-15 {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
}

// Vectors that say nothing find nothing.
func TestZeros(t *testing.T) {
	v, err := Compare([][]float32{{0, 0}, {0, 0}, {0, 0}}, [][]float32{{1, 0}, {0, 1}, {1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if v.Cosine() != 0 || v.Retrieval(2) != 0 || v.Retrieval(3) != 1 {
		t.Errorf("cosine %v, retrieval@2 %v and @3 %v, want 0, 0 and 1", v.Cosine(), v.Retrieval(2), v.Retrieval(3))
	}
}

func TestRefused(t *testing.T) {
	nan := float32(math.NaN())
	for want, rows := range map[string][2][][]float32{
		"eval: 1 predictions for 0 targets":                                                 {{{1}}, {}},
		"eval: row 0: a prediction of 1 elements for a target of 2, the first target has 2": {{{1}}, {{1, 2}}},
		"eval: row 1: a prediction of 1 elements for a target of 1, the first target has 2": {{{1, 2}, {1}}, {{1, 2}, {1}}},
		"eval: row 0: element 1 is NaN, must be finite":                                     {{{1, nan}}, {{1, 2}}},
		fmt.Sprintf("eval: row 0: element 0 is %v, must be finite", float32(math.Inf(-1))):  {{{1}}, {{float32(math.Inf(-1))}}},
	} {
		if _, err := Compare(rows[0], rows[1]); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// NumPy gives the same figures for random vectors, in one call of matrices for all.
func TestNumPy(t *testing.T) {
	const script = `
import json, sys
import numpy as np
d = json.load(open(sys.argv[1]))
p, y = np.array(d["predicted"], np.float32).astype(float), np.array(d["targets"], np.float32).astype(float)
unit = lambda v: v / np.linalg.norm(v, axis=1, keepdims=True)
s = unit(p) @ unit(y).T
order = np.argsort(-s, axis=1)
place = (order == np.arange(len(p))[:, None]).argmax(1)
print(np.diag(s).mean(), ((p - y) ** 2).mean(), *[(place < k).mean() for k in (1, 5, 10)])
print(*np.percentile(d["lengths"], d["percents"], method="inverted_cdf"))
`
	r := rand.New(rand.NewPCG(3, 4))
	var in struct {
		Predicted [][]float32 `json:"predicted"`
		Targets   [][]float32 `json:"targets"`
		Lengths   []int       `json:"lengths"`
		Percents  []float64   `json:"percents"`
	}
	for range 67 {
		p, y := make([]float32, 9), make([]float32, 9)
		for i := range p {
			y[i] = float32(r.NormFloat64())
			p[i] = y[i] + 1.5*float32(r.NormFloat64())
		}
		in.Predicted, in.Targets = append(in.Predicted, p), append(in.Targets, y)
		in.Lengths = append(in.Lengths, r.IntN(500))
	}
	in.Percents = []float64{0, 1, 5, 25, 50, 75, 90, 99, 100}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "in.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := Compare(in.Predicted, in.Targets)
	if err != nil {
		t.Fatal(err)
	}
	got := []float64{v.Cosine(), v.MSE, v.Retrieval(1), v.Retrieval(5), v.Retrieval(10)}
	for _, n := range Percentiles(in.Lengths, in.Percents...) {
		got = append(got, float64(n))
	}
	words := strings.Fields(pytest.Run(t, script, path))
	if len(words) != len(got) {
		t.Fatalf("NumPy says %q", words)
	}
	for i, word := range words {
		var want float64
		if _, err := fmt.Sscan(word, &want); err != nil {
			t.Fatal(err)
		}
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("figure %d is %v, NumPy has %v", i, got[i], want)
		}
	}
	if v.Retrieval(1) == v.Retrieval(10) {
		t.Error("the vectors are too near or too far to tell anything")
	}
}
