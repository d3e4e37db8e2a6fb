package metrics

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func create(t *testing.T, path string) *Writer {
	t.Helper()
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func write(t *testing.T, w *Writer, records ...Record) {
	t.Helper()
	for _, r := range records {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func loss(step int, v float64) Record {
	return Record{Step: step, Values: map[string]float64{"loss": v}}
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWriteAndRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "metrics.jsonl")
	records := []Record{
		{0, map[string]float64{}, map[string]string{"sample": "Call me\n\"Ishmael\""}},
		{1, map[string]float64{"loss": 2.5, "rate": 1e-9}, map[string]string{"phase": "A"}},
		{1, map[string]float64{"a": math.NaN(), "b": math.Inf(1), "c": math.Inf(-1), "d": math.Copysign(0, -1)}, map[string]string{}},
	}
	write(t, create(t, path), records...)
	want := `{"step":0,"sample":"Call me\n\"Ishmael\""}
{"step":1,"loss":2.5,"rate":1e-9,"phase":"A"}
{"step":1,"a":"NaN","b":"+Inf","c":"-Inf","d":-0}
`
	if got := content(t, path); got != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
	got, err := Read(path)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(records) {
		t.Errorf("read %v, %v, want %v", got, err, records)
	}
}

// A file is continued after any step, and then is as if the run had not stopped;
// what a killed process left of a line is gone.
func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "metrics.jsonl")
	var all []Record
	for step := range 9 {
		all = append(all, loss(step, float64(step)/3))
	}
	write(t, create(t, path), all...)
	whole := content(t, path)
	for step := -1; step < 10; step++ {
		for _, rest := range []string{"", "{", `{"step":9,"loss":3`, `{"step":9,"loss":3}`} {
			if err := os.WriteFile(path, []byte(whole+rest), 0o600); err != nil {
				t.Fatal(err)
			}
			w, err := Resume(path, step)
			if err != nil {
				t.Fatal(err)
			}
			write(t, w, all[min(step+1, 9):]...)
			if got := content(t, path); got != whole {
				t.Fatalf("continued after step %d and %q the file is\n%s\nwant\n%s", step, rest, got, whole)
			}
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "metrics.jsonl")
	w := create(t, path)
	if err := w.Write(loss(5, 1)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		record Record
		want   string
	}{
		{loss(4, 1), "step 4 comes after step 5"},
		{loss(-1, 1), "step -1 comes after step 5"},
		{Record{5, map[string]float64{"step": 1}, nil}, "duplicate"},
		{Record{5, map[string]float64{"a": 1}, map[string]string{"a": "x"}}, "duplicate"},
		{Record{5, nil, map[string]string{"a": "NaN"}}, "which is how a number is written"},
		{Record{5, nil, map[string]string{"a": "\xff"}}, "UTF-8"},
	} {
		if err := w.Write(c.record); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want one with %q and the path", err, c.want)
		}
	}
	write(t, w)
	if got := content(t, path); got != "{\"step\":5,\"loss\":1}\n" {
		t.Errorf("the file is %q", got)
	}
	if _, err := Create(path); err == nil || !strings.Contains(err.Error(), "belongs to another run") {
		t.Errorf("error %v, want one that the file is there", err)
	}
}

func TestReadRefuses(t *testing.T) {
	for line, want := range map[string]string{
		`{}`:                          "there is no step",
		`{"loss":1}`:                  "there is no step",
		`{"step":-1}`:                 "there is no step, or a negative one",
		`{"step":1.5}`:                "1.5",
		`{"step":"1"}`:                `"step" is neither`,
		`{"step":null}`:               `"step" is neither`,
		`{"step":1,"step":1}`:         "duplicate",
		`{"step":1,"a":null}`:         `"a" is neither a number nor a text`,
		`{"step":1,"a":[1]}`:          `"a" is neither`,
		`{"step":1,"a":1e999}`:        "1e999",
		`{"step":1`:                   "EOF",
		`{"step":1}{}`:                "something behind",
		`[1]`:                         "must be an object",
		``:                            "must be an object",
		`{"step":0}`:                  "step 0 comes after step 1",
		"{\"step\":1,\"a\":\"\xff\"}": "UTF-8",
	} {
		path := filepath.Join(t.TempDir(), "metrics.jsonl")
		if err := os.WriteFile(path, []byte("{\"step\":1}\n"+line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Read(path)
		_, resumeErr := Resume(path, 5)
		for _, err := range []error{err, resumeErr} {
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path+":2: (byte 11) ") {
				t.Errorf("%s: error %v, want one with %q and the place", line, err, want)
			}
		}
		if got := content(t, path); got != "{\"step\":1}\n"+line+"\n" {
			t.Errorf("%s: a file that is not understood was changed", line)
		}
	}
}
