package expr

import (
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/spec"
)

const rawText = `doc = "Written by hand."
dtypes = ["f32", "bf16"]
[static]
way = ["a", "b"]
[param.unread]
type = "f32"
[in.x]
shape = "R... D"
[in.w]
shape    = "D"
optional = true
[out.y]
shape = "R... D"
[axes]
Blocks = "(size(D) + 63)/64"
[temp.t]
shape = "R... Blocks"
type  = "f32"
[raw.one]
items   = ["R Blocks", "D/64"]
cost    = "R... D"
groups  = ["D/64", ""]
threads = 64
shared  = { a = "f32 16", b = "i32 2", c = "u32 1" }
`

func checkRaw(t *testing.T, text string) ([]*Spec, []string) {
	t.Helper()
	set, list := spec.ParseSet("specs/g/k.toml", []byte(text))
	specs, wrong := Check(set)
	var mistakes []string
	for _, d := range append(list, wrong...).Sorted() {
		mistakes = append(mistakes, d.Pos.String()+": "+d.Msg)
	}
	return specs, mistakes
}

func TestRaw(t *testing.T) {
	specs, mistakes := checkRaw(t, rawText)
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	s := specs[0]
	if len(s.Instances) != 8 {
		t.Fatalf("%d instances, want 8: of 2 choices, with and without w, in 2 types", len(s.Instances))
	}
	p := s.Instances[0]
	if err := Verify(p); err != nil {
		t.Error(err)
	}
	if len(p.Steps) > 0 || len(p.Ins) != 2 || len(s.Instances[2].Ins) != 1 || len(p.Outs) != 1 {
		t.Errorf("%d steps, %d inputs, %d without w, %d outputs", len(p.Steps), len(p.Ins), len(s.Instances[2].Ins), len(p.Outs))
	}
	r := p.Raw
	if len(r.Temps) != 1 || r.Temps[0].Type != F32 || len(r.Launches) != 1 || r.HasMSL {
		t.Fatalf("workspaces %v, launches %v", r.Temps, r.Launches)
	}
	l := r.Launches[0]
	if len(l.Items) != 2 || len(l.Items[0].Axes) != 2 || l.Items[0].Size != 1 || l.Items[1].Size != 64 ||
		len(l.Groups) != 2 || len(l.Groups[1].Axes) != 0 || len(l.Cost) != 2 || l.CostPS != defaultCostPS || len(l.Shared) != 3 {
		t.Errorf("launch %+v", l)
	}
}

func TestRawMistakes(t *testing.T) {
	for _, c := range [][3]string{
		{`"R Blocks"`, `"R Block"`, `specs/g/k.toml:20:15: "Block" is no axis whose extent is known`},
		{`"D/64"]`, `"D/none"]`, `specs/g/k.toml:20:27: "none" is no tile size`},
		{`"D/64"]`, `"D/0"]`, `specs/g/k.toml:20:27: "0" is no tile size`},
		{`"R... D"` + "\ngroups", `"D R D"` + "\ngroups", "specs/g/k.toml:21:16: the axis D stands here twice"},
		{`"f32 16"`, `"f16 16"`, `specs/g/k.toml:24:17: "f16 16" is no threadgroup array`},
		{`"i32 2"`, `"i32 9000"`, "specs/g/k.toml:24:31: the threadgroup arrays up to b take 36064 bytes, at most 32768 are possible"},
		{`"R... Blocks"`, `"R... Rest"`, "specs/g/k.toml:17:15: the extent of the axis Rest of t is not known: no input has it"},
	} {
		text := strings.Replace(rawText, c[0], c[1], 1)
		if text == rawText {
			t.Fatalf("%s is not in the spec", c[0])
		}
		_, mistakes := checkRaw(t, text)
		if len(mistakes) == 0 || mistakes[0] != c[2] {
			t.Errorf("%s: mistakes %q, want %q", c[1], mistakes, c[2])
		}
	}
}

// What is written by hand has no formula that others could inline.
func TestRawIsNotInlined(t *testing.T) {
	raw := "dtypes = [\"f32\"]\n[in.x]\nshape = \"P...\"\n[out.y]\nshape = \"P...\"\n"
	a, _ := spec.ParseSet("specs/g/hand.toml", []byte("doc = \"a\"\n"+raw+"[raw.f]\nitems = [\"P\"]\n"))
	b, _ := spec.ParseSet("specs/g/user.toml", []byte("doc = \"b\"\n"+raw+"expr = \"hand(x)\"\n"))
	a.Specs = append(a.Specs, b.Specs...)
	_, list := Check(a)
	if len(list) != 1 || list[0].Msg != "the spec hand cannot be called in an expression: its sources are written by hand" {
		t.Errorf("mistakes %v", list)
	}
}
