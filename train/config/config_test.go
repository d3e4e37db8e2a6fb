package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/diag"
)

const example = `kind = "decoder"
out = "runs/lm"

[data]
train = "book.txt"
window = 64

[schedule]
steps = 10_000
warmup = 100
peak = 3e-3
`

// parse returns what comes of a text and flags, and of mistakes their rendering.
func parse(text string, flags ...Flag) (*Config, string) {
	c, src, list := Parse("run.toml", []byte(text), flags)
	var b strings.Builder
	if err := diag.Render(&b, list, func(string) []byte { return []byte(src.Text) }); err != nil {
		panic(err)
	}
	return c, b.String()
}

// Values come from the file, flags win over it, and the rest are defaults.
func TestValues(t *testing.T) {
	c, wrong := parse(example, Flag{"steps", "20_000"}, Flag{"device", "cuda"}, Flag{"clip", "0.5"}, Flag{"prompt", "Call \"me\""})
	if wrong != "" {
		t.Fatal(wrong)
	}
	want := Default()
	want.Kind, want.Out, want.Device = Decoder, "runs/lm", "cuda"
	want.Data.Train, want.Data.Window = "book.txt", 64
	want.Schedule = Schedule{Steps: 20_000, Warmup: 100, Peak: 3e-3}
	want.Optimiser.Clip = 0.5
	want.Log.Prompt = "Call \"me\""
	want.places, c.places = nil, nil
	if !reflect.DeepEqual(*c, want) {
		t.Errorf("got\n%+v\nwant\n%+v", *c, want)
	}
}

// Each mistake is reported at its place with what to do about it.
func TestMistakes(t *testing.T) {
	base := func(old, new string) string {
		if !strings.Contains(example, old) {
			t.Fatalf("there is no %q", old)
		}
		return strings.Replace(example, old, new, 1)
	}
	for name, tt := range map[string]struct {
		text  string
		flags []Flag
		want  string
	}{
		"unknown key": {base("window", "windw"), nil, `run.toml:6:1: unknown key "windw" in [data]
	windw = 64
	^
	hint: did you mean window?
`},
		"key of another table": {base("window = 64", "peak = 1"), nil, `run.toml:6:1: unknown key "peak" in [data]
	peak = 1
	^
	hint: peak is a key of [schedule]
`},
		"key of no table": {base("window = 64", "seed = 1"), nil, `run.toml:6:1: unknown key "seed" in [data]
	seed = 1
	^
	hint: seed stands before the first table
`},
		"no key like it": {base("warmup", "learning_rate"), nil, `run.toml:10:1: unknown key "learning_rate" in [schedule]
	learning_rate = 100
	^
	hint: known keys: steps warmup peak floor
`},
		"unknown table": {base("[schedule]", "[schedul]"), nil, `run.toml:8:2: unknown table "schedul"
	[schedul]
	 ^
	hint: did you mean schedule?
`},
		"case": {base("window", "Window = 3\nwindow"), nil, `run.toml:6:1: the keys "Window" here and "window" at run.toml:7:1 differ only in case
	Window = 3
	^
run.toml:6:1: unknown key "Window" in [data]
	Window = 3
	^
	hint: did you mean window?
run.toml:7:1: the keys "window" here and "Window" at run.toml:6:1 differ only in case
	window = 64
	^
`},
		"syntax": {base(`"book.txt"`, `book.txt`), nil, `run.toml:5:9: expected value but found "book" instead
	train = book.txt
	        ^
`},
		"float for a whole number": {base("64", "64.0"), nil, `run.toml:6:10: window must be a whole number, not the float 64.0
	window = 64.0
	         ^
`},
		"out of range": {base("64", "0"), nil, `run.toml:6:10: window is 0, must be in [1, 1048576]
	window = 0
	         ^
`},
		"size that would overflow": {base("64", "9_000_000_000_000_000_000"), nil, `run.toml:6:10: window is 9000000000000000000, must be in [1, 1048576]
	window = 9_000_000_000_000_000_000
	         ^
`},
		"not finite": {base("3e-3", "inf"), nil, `run.toml:11:8: peak is +Inf, must be finite and more than 0
	peak = inf
	       ^
`},
		"word": {base(`"decoder"`, `"decode"`), nil, `run.toml:1:8: kind is "decode", must be encoder, decoder or combined
	kind = "decode"
	       ^
`},
		"all at once": {base("64", "true") + "decay = 1\n", nil, `run.toml:6:10: window must be a whole number, not the bool true
	window = true
	         ^
run.toml:12:1: unknown key "decay" in [schedule]
	decay = 1
	^
	hint: decay is a key of [optimiser]
`},
		"missing": {"kind = \"decoder\"\n", nil, `run.toml: [data] train is missing: give it in the file or as -train
	hint: file to learn from: text (.txt), or samples (.efb, .jsonl), with targets for an encoder
run.toml: [schedule] steps is missing: give it in the file or as -steps
	hint: of the whole run
run.toml: out is missing: give it in the file or as -out
	hint: folder of the run, made if it is not there: metrics, checkpoint, report
`},
		"flag": {example, []Flag{{"warmup", "many"}, {"stepz", "3"}}, `flag -stepz: there is no such flag
	hint: did you mean steps?
flag -warmup: warmup must be a whole number, not "many"
`},
		"flag against file": {example, []Flag{{"steps", "50"}}, `run.toml:10:1: warmup is 100, must be at most steps, 50
	warmup = 100
	^
`},
		"other kind": {example + "[loss]\nalpha = 1\n", nil, `run.toml:13:1: alpha has no meaning where kind is decoder, but where it is encoder or combined
	alpha = 1
	^
`},
		"other method": {example + "[optimiser]\nmomentum = 0.9\n", nil, `run.toml:13:1: momentum has no meaning for method = adamw
	momentum = 0.9
	^
`},
		"scale of f32": {example + "[optimiser]\nloss_scale = 3\n", nil, `run.toml:13:1: loss_scale has no meaning for precision = f32, which needs no scale
	loss_scale = 3
	^
run.toml:13:1: loss_scale is 3, must be a power of two
	loss_scale = 3
	^
`},
		"encoder of text": {base("decoder", "encoder"), nil, `run.toml:5:1: train is text, which has no vectors of a teacher: an encoder learns from .efb or .jsonl
	train = "book.txt"
	^
run.toml:6:1: window has no meaning where kind is encoder, but where it is decoder
	window = 64
	^
`},
		"widths": {base("window = 64", "widths = [16, 16]"), nil, `run.toml:6:10: widths has 16 after 16, must rise
	widths = [16, 16]
	         ^
`},
		"no form": {base("book.txt", "book.pdf"), nil, `run.toml:5:1: train is "book.pdf", must end in .txt, .efb or .jsonl
	train = "book.pdf"
	^
run.toml:6:1: window has no meaning for samples, which come as they are: see widths
	window = 64
	^
`},
		"UTF-16": {"\xff\xfek\x00", nil, `run.toml:1:1: the file is UTF-16
	hint: save it as UTF-8
`},
	} {
		c, got := parse(tt.text, tt.flags...)
		if got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, tt.want)
		}
		if c != nil {
			t.Errorf("%s: there is a configuration all the same", name)
		}
	}
}

// A flag may take the meaning of a key of the file, as those of a whole configuration
// would else stand in the way of every flag.
func TestFlagsOverWholeConfiguration(t *testing.T) {
	c, wrong := parse(example)
	if wrong != "" {
		t.Fatal(wrong)
	}
	again, wrong := parse(c.Format(), Flag{"method", "sgd"}, Flag{"momentum", "0.9"}, Flag{"validation", "other.txt"}, Flag{"tokenizer", "t.json"})
	if wrong != "" {
		t.Fatal(wrong)
	}
	for _, gone := range []string{"beta1", "holdout", "vocabulary"} {
		if text := again.Format(); strings.Contains(text, gone) {
			t.Errorf("%s is still there:\n%s", gone, text)
		}
	}
	if _, wrong = parse(example, Flag{"alpha", "1"}); wrong != "flag -alpha: alpha has no meaning where kind is decoder, but where it is encoder or combined\n" {
		t.Errorf("got %s", wrong)
	}
	file := strings.Replace(example, `kind = "decoder"`, "", 1) + "[loss]\nalpha = 1\n"
	if _, wrong = parse(file, Flag{"kind", "decoder"}); wrong == "" {
		t.Error("alpha of a file whose kind is a flag is let pass")
	}
}

// Load shows mistakes with their lines and gives flags without a file their turn.
func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.toml")
	if err := os.WriteFile(path, []byte(strings.Replace(example, "= 64", "= -1", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	want := path + ":6:10: window is -1, must be in [1, 1048576]\n\twindow = -1\n\t         ^"
	if _, err := Load(path, nil); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := Load(path, []Flag{{"window", "8"}}); err == nil {
		t.Error("a flag hides a mistake of the file")
	}
	c, err := Load("", []Flag{{"kind", "decoder"}, {"out", "o"}, {"train", "b.txt"}, {"steps", "3"}})
	if err != nil || c.Schedule.Steps != 3 {
		t.Errorf("flags alone give %+v, %v", c, err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.toml"), nil); err == nil {
		t.Error("a file that is not there is no error")
	}
}

// A flag has the name of its key alone, so no two keys have one name, and each has a
// default that it takes itself.
func TestKeys(t *testing.T) {
	seen := map[string]string{}
	for _, k := range Keys() {
		if other, ok := seen[k.Name]; ok {
			t.Errorf("%s and %s have the same flag", other, k.path())
		}
		seen[k.Name] = k.path()
		if k.Doc == "" || strings.HasSuffix(k.Doc, ".") {
			t.Errorf("%s: the doc is %q", k.path(), k.Doc)
		}
		if d := k.Default(); d != "" && d != "[]" && !strings.HasPrefix(d, `"`) {
			if err := k.value.setText(d); err != nil {
				t.Errorf("%s: the default %v", k.path(), err)
			}
		}
	}
}

// Each field of a Config has a key: what a test forgets to copy would be lost when a run is continued.
func TestEveryFieldHasAKey(t *testing.T) {
	c := Default()
	fields := 0
	for _, v := range []any{c, c.Data, c.Model, c.Optimiser, c.Schedule, c.Loss, c.Log} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			if f := typ.Field(i); f.IsExported() && f.Type.Kind() != reflect.Struct {
				fields++
			}
		}
	}
	if keys := len(c.keys()); keys != fields {
		t.Errorf("there are %d keys and %d fields", keys, fields)
	}
}

// What Format writes is the same run again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte(strings.Replace(example, "3e-3", "1", 1) + "[log]\nprompt = \"a\\\"\\\\\\n\\u0001ü\"\n[optimiser]\nmethod = \"sgd\"\nmomentum = 0.5\nnesterov = true\n"))
	f.Add([]byte("kind = 'combined'\nout='o'\nprecision='f16'\ndata = {train='a.efb', widths=[1,2], validation='b.EFB', tokenizer='t'}\nloss.a=2\nschedule.steps=1\n[optimiser]\nloss_scale=8"))
	f.Add([]byte("[[data]]\n[data.x]"))
	f.Add([]byte("data = 3\n[log]\nsample = 1979-05-27\n\"\" = 1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, _, list := Parse("run.toml", text, nil)
		if (c == nil) == (len(list) == 0) {
			t.Fatalf("%q: configuration %v, mistakes %v", text, c, list)
		}
		if c == nil {
			return
		}
		again, _, list := Parse("again.toml", []byte(c.Format()), nil)
		if len(list) > 0 {
			t.Fatalf("%q: its text\n%s\nhas the mistakes\n%v", text, c.Format(), list.Err())
		}
		c.places, again.places = nil, nil
		if !reflect.DeepEqual(c, again) {
			t.Fatalf("%q: got\n%+v\nwant\n%+v", text, again, c)
		}
	})
}
