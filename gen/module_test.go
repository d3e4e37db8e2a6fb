package gen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
)

func TestParseGoMod(t *testing.T) {
	for text, want := range map[string]goMod{
		"module example.com/a\n":                                                         {"example.com/a", false},
		"// a comment\nmodule \"example.com/a\" // why\n\ngo 1.26\n":                     {"example.com/a", false},
		"module `example.com/a`\ntool github.com/kernelgen/kgen/cmd/kgen\n":              {"example.com/a", true},
		"module (\n\texample.com/a\n)\ntool (\n\tother\n\t" + toolPath + " // ours\n)\n": {"example.com/a", true},
		"go 1.26\nrequire (\n\tmodule v1.0.0\n)\nmodule example.com/a\r\n":               {"example.com/a", false},
		"// tool " + toolPath + "\nmodule example.com/a\n":                               {"example.com/a", false},
		"": {"", false},
	} {
		if got := parseGoMod(text); got != want {
			t.Errorf("parseGoMod(%q) = %+v, want %+v", text, got, want)
		}
	}
}

func TestOpen(t *testing.T) {
	dir := write(t, map[string]string{"go.mod": "module example.com/a\n", "deep/er/x": "", "bad/go.mod": "go 1.26\n"})
	m, err := Open(filepath.Join(dir, "deep", "er"))
	if err != nil || m.Root != dir || m.Path != "example.com/a" || m.OpsPath() != "example.com/a/generated/ops" {
		t.Errorf("Open below the root gives %+v, %v", m, err)
	}
	if _, err := Open(filepath.Join(dir, "bad")); err == nil || !strings.Contains(err.Error(), "no module line") {
		t.Errorf("error %v for a go.mod without a module line", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(dir, "deep"), link); err != nil {
		t.Fatal(err)
	}
	if m, err = Open(link); err != nil || m.Path != "example.com/a" {
		t.Errorf("Open of a link into the module gives %+v, %v", m, err)
	}
}

func TestNamesOfChoices(t *testing.T) {
	choices := []Choice{{Static, "ta", "n"}, {Optional, "bias", "with"}, {Static, "tb", "t"}, {Optional, "mask", "without"}, {List, "x", "3"}}
	if got := StaticName(choices); got != "nt_bias_3" {
		t.Errorf("StaticName = %s", got)
	}
	op := &Op{GoName: "MatMul", Choices: choices}
	if got := op.FuncName(); got != "MatMulNTWithBias" {
		t.Errorf("FuncName = %s", got)
	}
	if got := op.ident(); got != "matMulNTWithBias3" {
		t.Errorf("ident = %s", got)
	}
	for name, want := range map[string]string{"GELU": "gelu", "KDLoss": "kdLoss", "L2Normalize": "l2Normalize", "LoRA": "loRA", "ReLU": "reLU", "X": "x"} {
		if got := (&Op{GoName: name}).ident(); got != want {
			t.Errorf("ident of %s = %s, want %s", name, got, want)
		}
	}
}

// Two specs may not give one Go name, even where choices make it.
func TestNamesThatMeet(t *testing.T) {
	spec := func(file, name string) *Spec {
		p := &expr.Program{Name: name}
		return &Spec{Spec: &expr.Spec{Name: name, File: file}, Ops: []*Op{{GoName: name, Programs: []*expr.Program{p}}}}
	}
	a, b := spec("specs/g/a.toml", "Mat"), spec("specs/g/b.toml", "MatN")
	a.Ops[0].Choices = []Choice{{Static, "t", "n"}}
	list := checkNames([]*Spec{a, b})
	if len(list) == 0 || !strings.Contains(list[0].Msg, "specs/g/b.toml and specs/g/a.toml both give the Go name MatN") {
		t.Errorf("mistakes %v", list)
	}
	if list := checkNames([]*Spec{a, a}); len(list) != 0 {
		t.Errorf("mistakes %v within one spec", list)
	}
}
