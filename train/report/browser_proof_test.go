//go:build proof

package report

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kernelgen/kgen/train/metrics"
)

// open loads a page in a browser without a window and returns the elements that are
// there after its scripts ran, and what the browser's console says.
func open(t *testing.T, html string) (dom, console string) {
	t.Helper()
	var browser string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Fatal("there is no browser: install chromium")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "report.html")
	if err := os.WriteFile(path, []byte(html), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--enable-logging=stderr", "--dump-dom", "file://"+path)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, "CONSOLE") {
			console += line
		}
	}
	return string(out), console
}

// Every run's page draws all of its charts and leaves the console empty.
func TestBrowser(t *testing.T) {
	for name, run := range map[string]Run{
		"run":      exampleRun(t, 2000),
		"long":     exampleRun(t, 100_000),
		"one":      {Records: loss(1)},
		"nan":      {Records: loss(math.NaN(), math.Inf(1), math.NaN())},
		"constant": {Records: loss(2, 2, 2)},
		"tiny":     {Records: loss(1e-300, 1e300, 1, 1)},
		"texts":    {Records: []metrics.Record{{Step: 0, Texts: map[string]string{"sample": "text"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			dom, console := open(t, write(t, run))
			if console != "" {
				t.Errorf("the console says\n%s", console)
			}
			if got, want := strings.Count(dom, "<canvas"), len(chartsOf(run.Records)); got != want {
				t.Errorf("%d charts are drawn, want %d", got, want)
			}
		})
	}
}

// Hostile texts change nothing in the elements that scripts make either.
func TestBrowserEscapes(t *testing.T) {
	want, _ := open(t, write(t, runOf("harmless")))
	for _, text := range hostile {
		dom, console := open(t, write(t, runOf(text)))
		if console != "" {
			t.Errorf("%q: the console says\n%s", text, console)
		}
		if !slices.Equal(tagsOf(dom), tagsOf(want)) || strings.Contains(dom, "<title>owned") {
			t.Errorf("%q changes the elements of the page", text)
		}
	}
}

// The policy of the page keeps a script that came in by another way from running.
// Without this the tests above would pass on a console that is not heard.
func TestBrowserPolicy(t *testing.T) {
	html := strings.Replace(write(t, exampleRun(t, 20)), "</body>", `<script>document.title = "owned"</script></body>`, 1)
	dom, console := open(t, html)
	if strings.Contains(dom, "<title>owned") || !strings.Contains(console, "Content Security Policy") {
		t.Errorf("a script that is not the page's own has run; the console says %q", console)
	}
}

// The page of a run of eftrain, interruption and continuation included, draws what its
// metrics have, and every operation that was timed.
func TestBrowserOfRun(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	eftrain := func(args ...string) {
		t.Helper()
		cmd := exec.Command("go", append([]string{"run", "./cmd/eftrain"}, args...)...)
		cmd.Dir = "../.."
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("eftrain %q: %v\n%s", args, err, text)
		}
	}
	eftrain("examples/text/combined.toml", "-out", out, "-steps", "6", "-warmup", "1", "-hidden", "16", "-a", "2", "-b", "1", "-validate", "2")
	eftrain("-resume", out, "-steps", "12")
	html, err := os.ReadFile(filepath.Join(out, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	records, err := metrics.Read(filepath.Join(out, "metrics.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	dom, console := open(t, string(html))
	if console != "" {
		t.Errorf("the console says\n%s", console)
	}
	if got, want := strings.Count(dom, "<canvas"), len(chartsOf(records)); got != want || want < 6 {
		t.Errorf("%d charts are drawn, want %d", got, want)
	}
	for _, want := range []string{"im2col", "adamw", "Given the vector of: ", ">validation<", "steps 1 to 12"} {
		if !strings.Contains(dom, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
}
