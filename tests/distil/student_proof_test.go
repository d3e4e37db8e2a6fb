//go:build proof

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// seeds of weights, order and dropout.
var seeds = []int{1, 2, 3}

// score is how near vectors are to the teacher's, of sentences that are held out.
type score struct{ cosine, at1, at10 float64 }

// ridge is the best of the ridge regressions of baseline.txt.
func ridge(t *testing.T) (best score) {
	t.Helper()
	text, err := os.ReadFile("baseline.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^ridge, .*? +(0\.\d+) +([01]\.\d+) +([01]\.\d+)$`).FindAllSubmatch(text, -1) {
		var v [3]float64
		for i := range v {
			if v[i], err = strconv.ParseFloat(string(m[i+1]), 64); err != nil {
				t.Fatal(err)
			}
		}
		best = score{max(best.cosine, v[0]), max(best.at1, v[1]), max(best.at10, v[2])}
	}
	if best.cosine == 0 {
		t.Fatalf("no ridge regression in baseline.txt:\n%s", text)
	}
	return best
}

// TestStudents: the encoders of examples/text, by themselves and beside a decoder, know
// more of sentences that are held out than ridge regressions on bags of words do, with any
// seed. Each turn of a combined run does what it is for: the cosine is higher at the end of
// each of the encoder, the cross entropy lower at the end of each of the decoder.
func TestStudents(t *testing.T) {
	bin := t.TempDir()
	if text, err := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "../../cmd/eftrain", "../../cmd/eftexteval").CombinedOutput(); err != nil {
		t.Fatalf("building the tools: %v\n%s", err, text)
	}
	want := ridge(t)
	t.Logf("%-22s cosine %.4f  retrieval@1 %.3f  @10 %.3f", "ridge, the best of each", want.cosine, want.at1, want.at10)
	for _, example := range []string{"distil", "combined"} {
		for _, seed := range seeds {
			out := filepath.Join(t.TempDir(), example)
			tool(t, bin, "eftrain", "examples/text/"+example+".toml", "-out", out, "-seed", strconv.Itoa(seed))
			got := evaluated(t, tool(t, bin, "eftexteval", out, "-json"))
			t.Logf("%-22s cosine %.4f  retrieval@1 %.3f  @10 %.3f", fmt.Sprintf("%s, seed %d", example, seed), got.cosine, got.at1, got.at10)
			if got.cosine <= want.cosine || got.at1 <= want.at1 || got.at10 <= want.at10 {
				t.Errorf("%s, seed %d: the encoder is no better than the regression", example, seed)
			}
			if example == "combined" {
				checkTurns(t, filepath.Join(out, "metrics.jsonl"))
			}
		}
	}
}

// tool runs a command at the root and returns what it prints.
func tool(t *testing.T, bin, name string, args ...string) []byte {
	t.Helper()
	c := exec.Command(filepath.Join(bin, name), args...)
	c.Dir = "../.."
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, stderr.Bytes())
	}
	return out
}

// evaluated reads what eftexteval gives as JSON.
func evaluated(t *testing.T, text []byte) score {
	t.Helper()
	var r struct {
		KD struct {
			Cosine    float64
			Retrieval map[string]float64
		}
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return score{r.KD.Cosine, r.KD.Retrieval["1"], r.KD.Retrieval["10"]}
}

// checkTurns compares the validations at the end of each turn with those before it.
func checkTurns(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	type record struct {
		Step   int
		Phase  string
		Cosine float64 `json:"validation_cosine"`
		CE     float64 `json:"validation_ce_loss"`
	}
	var phase string        // of the last step
	var before, last record // validations: at the end of the turn before, and the last one
	turns := 0
	check := func() {
		turns++
		switch {
		case phase == "A" && before.Step > 0:
			t.Logf("turn %2d, encoder: cosine %.4f to %.4f", turns, before.Cosine, last.Cosine)
			if last.Cosine <= before.Cosine {
				t.Errorf("the cosine does not rise in turn %d", turns)
			}
		case phase == "B":
			t.Logf("turn %2d, decoder: cross entropy %.4f to %.4f", turns, before.CE, last.CE)
			if last.CE >= before.CE {
				t.Errorf("the cross entropy does not fall in turn %d", turns)
			}
		}
		before = last
	}
	for line := range bytes.Lines(content) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		switch {
		case r.Cosine != 0:
			last = r
		case r.Phase != "":
			if phase != "" && r.Phase != phase {
				check()
			}
			phase = r.Phase
		}
	}
	check()
	if turns != 8 {
		t.Errorf("%d turns, want 8", turns)
	}
}
