package report

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kernelgen/kgen/train/metrics"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// The golden file has the whole page but the charting library.
func TestGolden(t *testing.T) {
	const path = "testdata/report.html"
	got := write(t, exampleRun(t, 40))
	for name, text := range map[string]string{"uPlot.iife.min.js": uplotJS, "uPlot.min.css": uplotCSS} {
		if strings.Count(got, text) != 1 {
			t.Errorf("%s is in the page %d times", name, strings.Count(got, text))
		}
		got = strings.Replace(got, text, name+"\n", 1)
	}
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs from the page: look at it in a browser, then go test ./train/report -update", path)
	}
}

func TestSameBytes(t *testing.T) {
	run := exampleRun(t, 400)
	// Two curves have one label.
	run.Records = append(run.Records,
		metrics.Record{Step: 400, Values: map[string]float64{"ce_loss": 1}, Texts: map[string]string{"phase": "training"}},
		metrics.Record{Step: 400, Values: map[string]float64{"ce_loss": 2}},
	)
	want := write(t, run)
	for range 20 {
		if write(t, run) != want {
			t.Fatal("the same run gives another page")
		}
	}
}

// hostile are texts that would do harm where they are not escaped.
var hostile = []string{
	`<script>document.title="owned"</script>`,
	`</script><script>document.title="owned"</script>`,
	`"><img src=x onerror="document.title='owned'">`,
	`'><svg onload=document.title='owned'>`,
	`</pre></title></style></textarea><h1>owned</h1>`,
	`<!--<script>`, `-->`, `]]>`, `&lt;b&gt;&#60;i&#62;`, `javascript:alert(1)`,
	"{{.Config}}${1}`\\u003cb\\u003e", "a\u2028b\u2029c", "\x00\x01\x1b[31m", "\xff\xfe</pre>", "\u202egnp.exe",
	`__proto__`, `constructor`,
}

// runOf returns a run in which all texts are this one.
func runOf(text string) Run {
	run := Run{Name: text, Config: text, Ops: []Op{{text, 1, 2}}}
	for step := range 60 {
		run.Records = append(run.Records, metrics.Record{Step: step,
			Values: map[string]float64{"loss " + text: float64(step), "validation_" + text: math.NaN()},
			Texts:  map[string]string{"phase": text, "sample " + text: text},
		})
	}
	return run
}

var tag = regexp.MustCompile(`<[/!]?[a-zA-Z-]+`)

// tagsOf returns the elements and comments of a page, without its style and scripts.
func tagsOf(html string) []string {
	for _, own := range []string{uplotCSS, pageCSS, uplotJS, pageJS} {
		html = strings.Replace(html, own, "", 1)
	}
	return tag.FindAllString(html, -1)
}

// Whatever texts a run has, the page has the elements of one with harmless texts,
// and shows the texts.
func TestEscapes(t *testing.T) {
	want := tagsOf(write(t, runOf("harmless")))
	for _, text := range hostile {
		got := write(t, runOf(text))
		if !slices.Equal(tagsOf(got), want) {
			t.Errorf("%q changes the elements of the page", text)
		}
		if strings.Contains(got, "\x00") || strings.Contains(got, "\xff") {
			t.Errorf("%q puts bytes into the page that HTML does not have", text)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		run  Run
		want string
	}{
		{Run{}, "report: there are no records: a run that made no step has nothing to show"},
		{Run{Records: []metrics.Record{{Step: 5}, {Step: 3}}}, "report: record 1: step 3 comes after step 5"},
		{Run{Records: loss(1), Ops: []Op{{"add", math.NaN(), -1}, {"", 1, 1}}},
			"report: op \"add\" took NaN seconds, must be finite and not negative\nreport: op \"add\" has -1 calls\nreport: op 1 has no name"},
	} {
		var b strings.Builder
		err := Write(&b, c.run)
		if err == nil || err.Error() != c.want || b.Len() != 0 {
			t.Errorf("error %v and %d bytes, want %s", err, b.Len(), c.want)
		}
	}
}

// A file is replaced as a whole, and stays what it was after an error.
func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	run := exampleRun(t, 20)
	if err := WriteFile(path, run); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, Run{}); err == nil {
		t.Error("a run without records is taken")
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != write(t, run) {
		t.Errorf("the file is not the page: %v", err)
	}
}

// The library is what its authors released: uplot/README.md has the hashes.
func TestLibrary(t *testing.T) {
	readme, err := os.ReadFile("uplot/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"LICENSE", "uPlot.iife.min.js", "uPlot.min.css"} {
		content, err := os.ReadFile("uplot/" + name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		if line := fmt.Sprintf("| %s | %s |", name, hex.EncodeToString(sum[:])); !strings.Contains(string(readme), line) {
			t.Errorf("uplot/README.md lacks the line %s", line)
		}
	}
}

// A hundred thousand lines of a file become a page in seconds, of a size that
// browsers open at once.
func TestLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "metrics.jsonl")
	w, err := metrics.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	run := exampleRun(t, 100_000)
	for _, r := range run.Records {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	run.Records, err = metrics.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	read := time.Since(start)
	page := write(t, run)
	t.Logf("%d records: read in %v, page of %d bytes in %v", len(run.Records), read, len(page), time.Since(start)-read)
	if len(page) > 1e6 {
		t.Errorf("the page has %d bytes, must be 1,000,000 at most", len(page))
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v, must be 20 s at most on a busy machine", took)
	}
}

func BenchmarkWrite(b *testing.B) {
	run := exampleRun(b, 100_000)
	for b.Loop() {
		write(b, run)
	}
}
