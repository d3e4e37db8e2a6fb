package spec

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compiledSchema returns the schema, checked against that of its draft.
func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := Schema("a comment")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate says what the schema refuses in a TOML file.
func validate(t *testing.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	var v map[string]any
	if _, err := toml.Decode(string(text), &v); err != nil {
		t.Fatal(err)
	}
	return s.Validate(plain(v))
}

// plain makes what the TOML library gives what a JSON library would, with
// null in place of infinities and NaN.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil
		}
	case []map[string]any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return list
	}
	return v
}

// TestSchemaOfSpecs: the schema lets every spec of the module pass, and every
// spec that kgen new-kernel starts from.
func TestSchemaOfSpecs(t *testing.T) {
	s := compiledSchema(t)
	var files []string
	for _, pattern := range []string{"../../specs/*/*.toml", "../../cmd/kgen/template/*.toml", "testdata/good.toml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no files, %v", pattern, err)
		}
		files = append(files, found...)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, s, text); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// TestSchemaRefuses: mistakes of keys, types and words, each of which the
// decoder finds, too.
func TestSchemaRefuses(t *testing.T) {
	const in, out = "[in.x]\nshape = \"P\"\n", "[out.y]\nshape = \"P\"\nexpr = \"x\"\n"
	s := compiledSchema(t)
	if err := validate(t, s, []byte(in+out)); err != nil {
		t.Fatalf("a right spec: %v", err)
	}
	for name, text := range map[string]string{
		"unknown key":          "docs = \"x\"\n" + in + out,
		"unknown family":       "family = \"row\"\n" + in + out,
		"a number for a text":  "doc = 1\n" + in + out,
		"unknown type":         "dtypes = [\"f64\"]\n" + in + out,
		"a type twice":         "dtypes = [\"f32\", \"f32\"]\n" + in + out,
		"no types":             "dtypes = []\n" + in + out,
		"no output":            in,
		"no shape":             in + "[out.y]\nexpr = \"x\"\n",
		"a list for a shape":   "[in.x]\nshape = [\"P\"]\n" + out,
		"no expression":        in + "[out.y]\nshape = \"P\"\n",
		"no type":              "[param.a]\ndefault = 1\n" + in + out,
		"over alone":           in + out + "over = \"P\"\n",
		"unknown reduction":    in + out + "over = \"P\"\nreduce = \"summ\"\n",
		"no identifier":        in + out + "[let.a-b]\nexpr = \"x\"\n",
		"only underscores":     in + out + "[let.__]\nexpr = \"x\"\n",
		"no condition":         "[in.x]\nshape = { ta = \"P\" }\n" + out,
		"a list of an input":   in + out + "list = \"P\"\n",
		"a static of numbers":  "[static]\nta = [1]\n" + in + out,
		"a gradient's kernel":  in + out + "[grad]\nwrt = [\"x\"]\nstatic = { \"a=b\" = \"a=c\" }\n",
		"too many threads":     in + out + "[raw.f]\nitems = [\"P\"]\ngroups = [\"P\"]\nthreads = 2000\n",
		"too many dimensions":  in + out + "[raw.f]\nitems = [\"P\"]\ngroups = [\"P\", \"P\", \"P\", \"P\"]\nthreads = 32\n",
		"a launch of no items": in + "[out.y]\nshape = \"P\"\n[raw.f]\ncost = \"P\"\n",
	} {
		if validate(t, s, []byte(text)) == nil {
			t.Errorf("%s: the schema lets it pass", name)
		}
		if _, list := Parse("specs/g/a.toml", []byte(text)); len(list) == 0 {
			t.Errorf("%s: the decoder lets it pass", name)
		}
	}
}

// TestSchemaIsNoStricter: what the schema refuses the decoder refuses.
func TestSchemaIsNoStricter(t *testing.T) {
	s := compiledSchema(t)
	files, err := filepath.Glob("testdata/*.toml")
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(f, "syntax_") {
			continue
		}
		if err := validate(t, s, text); err != nil {
			refused++
			if _, list := Parse("specs/g/a.toml", text); len(list) == 0 {
				t.Errorf("%s: only the schema refuses it: %v", f, err)
			}
		}
	}
	if refused == 0 {
		t.Error("the schema refuses none of the files with mistakes")
	}
}

// TestEveryKeyIsDescribed: editors show what a key is for.
func TestEveryKeyIsDescribed(t *testing.T) {
	var walk func(where string, keys []key)
	walk = func(where string, keys []key) {
		for _, k := range keys {
			if k.doc == "" {
				t.Errorf("%s%s has no doc", where, k.name)
			}
			walk(where+k.name+".", k.keys)
		}
	}
	walk("", fileKeys)
}
