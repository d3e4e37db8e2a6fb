package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"index/suffixarray"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/safetensors"
	"github.com/kernelgen/kgen/tokenizer"
)

const folder = "../../data/distil"

// splits are what data/distil/README.md says of the files.
var splits = []struct {
	name  string
	count int
}{{"train", 4200}, {"validation", 500}}

// open opens a split.
func open(t *testing.T, split string) *dataset.EFB {
	t.Helper()
	src, err := dataset.OpenEFB(filepath.Join(folder, split+".efb"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

func load(t *testing.T) *tokenizer.Tokenizer {
	t.Helper()
	k, err := tokenizer.Load(filepath.Join(folder, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Every sample is whole: ids of the tokenizer, all of which count, and a vector of
// length 1.
func TestSamples(t *testing.T) {
	k := load(t)
	if k.Size() != vocabulary {
		t.Errorf("the tokenizer has %d tokens, want %d", k.Size(), vocabulary)
	}
	var total int64
	for _, split := range splits {
		src := open(t, split.name)
		if src.Len() != split.count || src.Dim() != 384 {
			t.Errorf("%s: %d samples with targets of %d elements, want %d and 384", split.name, src.Len(), src.Dim(), split.count)
		}
		if err := dataset.Verify(src, k.Size()); err != nil {
			t.Error(err)
		}
		var s dataset.Sample
		for i := range src.Len() {
			if err := src.Read(i, &s); err != nil {
				t.Fatal(err)
			}
			checkSample(t, split.name, i, s)
		}
		info, err := os.Stat(filepath.Join(folder, split.name+".efb"))
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if total > 8_000_000 {
		t.Errorf("the splits have %d bytes, must be 8,000,000 at most", total)
	}
}

// The embeddings are components: of mean 0, of falling variance, which is 1 in the mean,
// and uncorrelated. Tokens that mean much the same are near each other.
func TestEmbeddings(t *testing.T) {
	f, err := safetensors.Open(filepath.Join(folder, "embeddings.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, ok := f.Lookup("embedding.weight")
	if !ok || len(f.Tensors()) != 1 || info.DType != safetensors.F16 || !slices.Equal(info.Shape, []int{vocabulary, 192}) {
		t.Fatalf("the file has %v, want embedding.weight F16[%d 192] alone", f.Tensors(), vocabulary)
	}
	rows := make([][]float64, vocabulary)
	for i, data := range slices.Collect(slices.Chunk(f.Data(info), 2*192)) {
		for j := range 192 {
			h := runtime.Float16(binary.LittleEndian.Uint16(data[2*j:]))
			rows[i] = append(rows[i], float64(h.Float32()))
		}
	}
	dot := func(a, b int) (sum float64) {
		for _, r := range rows {
			sum += r[a] * r[b] / vocabulary
		}
		return sum
	}
	total, before := 0.0, math.Inf(1)
	for j := range 192 {
		v := dot(j, j)
		if v > before+1e-3 || math.Abs(dot(j, (j+1)%192)) > 1e-2 {
			t.Errorf("component %d has variance %.4f, behind one of %.4f, and %.4f with the next", j, v, before, dot(j, (j+1)%192))
		}
		total, before = total+v/192, v
	}
	if math.Abs(total-1) > 1e-3 {
		t.Errorf("the variance is %.4f in the mean, want 1", total)
	}
	k := load(t)
	cosine := func(a, b string) float64 {
		var ab, aa, bb float64
		x, y := rows[k.Encode(a)[0]], rows[k.Encode(b)[0]]
		for i := range x {
			ab, aa, bb = ab+x[i]*y[i], aa+x[i]*x[i], bb+y[i]*y[i]
		}
		return ab / math.Sqrt(aa*bb)
	}
	if near, far := cosine(" ship", " vessel"), cosine(" ship", " taxes"); near < far+0.2 {
		t.Errorf("ship is %.3f from vessel and %.3f from taxes", near, far)
	}
}

func checkSample(t *testing.T, split string, i int, s dataset.Sample) {
	t.Helper()
	if n := len(s.IDs); n < 5 || n > 96 {
		t.Errorf("%s: sample %d has %d ids, want 5 to 96", split, i, n)
	}
	if slices.Contains(s.Mask, 0) {
		t.Errorf("%s: sample %d has ids that do not count", split, i)
	}
	sum := 0.0
	for _, v := range s.Target {
		sum += float64(v) * float64(v)
	}
	if math.Abs(sum-1) > 1e-6 {
		t.Errorf("%s: sample %d has a vector of length %v, want 1", split, i, math.Sqrt(sum))
	}
}

// No sentence is there twice, in one split or in both, also when case and
// punctuation are left out.
func TestNoSentenceTwice(t *testing.T) {
	k := load(t)
	seen := map[string]string{}
	for _, split := range splits {
		src := open(t, split.name)
		var s dataset.Sample
		for i := range src.Len() {
			if err := src.Read(i, &s); err != nil {
				t.Fatal(err)
			}
			text, err := k.Decode(s.IDs)
			if err != nil {
				t.Fatal(err)
			}
			key := strings.Join(strings.FieldsFunc(strings.ToLower(string(text)), func(r rune) bool {
				return strings.ContainsRune(" .,;:!?'\"()“”‘’—-", r)
			}), " ")
			if other, ok := seen[key]; ok {
				t.Errorf("%s: sample %d, %q, is in %s, too", split.name, i, text, other)
			}
			seen[key] = split.name
		}
	}
}

// The sentences are those of the texts in data, but for case and white space, each behind
// a space.
func TestSentencesAreOfTheTexts(t *testing.T) {
	k := load(t)
	texts := corpus(t)
	counts := make([]int, len(texts))
	for _, split := range splits {
		src := open(t, split.name)
		var s dataset.Sample
		for i := range src.Len() {
			if err := src.Read(i, &s); err != nil {
				t.Fatal(err)
			}
			sentence, err := k.Decode(s.IDs)
			if err != nil {
				t.Fatal(err)
			}
			words, led := bytes.CutPrefix(sentence, []byte(" "))
			if !led {
				t.Fatalf("%s: sample %d, %q, does not begin with a space", split.name, i, sentence)
			}
			at := slices.IndexFunc(texts, func(text *suffixarray.Index) bool { return len(text.Lookup(words, 1)) > 0 })
			if at < 0 {
				t.Fatalf("%s: sample %d, %q, is in none of the texts", split.name, i, sentence)
			}
			counts[at]++
		}
	}
	if counts[0] != 2350 || counts[1] != 2350 {
		t.Errorf("the texts have %v sentences, want 2350 each", counts)
	}
}

// Batches of five widths are mostly ids, not padding.
func TestWidths(t *testing.T) {
	src := open(t, "train")
	l, err := dataset.NewLoader(src, dataset.Config{Batch: 32, Widths: []int{16, 32, 48, 64, 96}, Shuffle: true})
	if err != nil {
		t.Fatal(err)
	}
	ids, places := 0, 0
	var b dataset.Batch
	for range l.Batches() {
		if err := l.Next(&b); err != nil {
			t.Fatal(err)
		}
		places += len(b.IDs)
		for _, m := range b.Mask {
			ids += int(m)
		}
	}
	if share := float64(ids) / float64(places); share < 0.75 {
		t.Errorf("%d ids are %.2f of the places, want 0.75", ids, share)
	} else {
		t.Logf("%d ids are %.2f of the places", ids, share)
	}
}

// The baseline is of these files: after make.py comes ridge.py.
func TestBaseline(t *testing.T) {
	baseline, err := os.ReadFile("baseline.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, split := range splits {
		content, err := os.ReadFile(filepath.Join(folder, split.name+".efb"))
		if err != nil {
			t.Fatal(err)
		}
		if line := fmt.Sprintf("%s.efb: SHA-256 %x\n", split.name, sha256.Sum256(content)); !strings.Contains(string(baseline), line) {
			t.Errorf("baseline.txt lacks the line %s", line)
		}
	}
}
