package spec

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

const minimal = "dtypes = [\"f32\"]\n[in.x]\nshape = \"P...\"\n[out.y]\nshape = \"P...\"\nexpr = \"x\"\n"

func files(texts map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range texts {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// TestBytes checks what may stand in a file and where the rest is reported.
func TestBytes(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", minimal, ""},
		{"CRLF", strings.ReplaceAll(minimal, "\n", "\r\n"), ""},
		{"BOM", "\xef\xbb\xbf" + minimal, ""},
		{"BOM and CRLF", "\xef\xbb\xbf" + strings.ReplaceAll(minimal, "\n", "\r\n"), ""},
		{"UTF-16 little endian", "\xff\xfed\x00o\x00", "specs/g/n.toml:1:1: the file is UTF-16 (save it as UTF-8)"},
		{"UTF-16 big endian", "\xfe\xff\x00d\x00o", "specs/g/n.toml:1:1: the file is UTF-16 (save it as UTF-8)"},
		{"UTF-16 without mark", "d\x00o\x00c\x00", "specs/g/n.toml:1:2: the file holds a NUL byte"},
		{"NUL", minimal + "# \x00\n", "specs/g/n.toml:7:3: the file holds a NUL byte"},
		{"lone CR", "doc = \"\"\"a\nb\rc\"\"\"\n" + minimal, "specs/g/n.toml:2:2: the file holds a carriage return that is not part of a line end"},
		{"CR at end", minimal + "\r", "specs/g/n.toml:7:1: the file holds a carriage return that is not part of a line end"},
		{"invalid UTF-8", "doc = \"a\"\n# ä \xe4\n" + minimal, "specs/g/n.toml:2:6: the file is not valid UTF-8"},
		{"control character", "doc = \"a\x01\"\n", "specs/g/n.toml:1:9: the file holds the control character U+0001"},
		{"empty", "", "specs/g/n.toml:1:1: the spec n has no output (declare [out.NAME] with shape and expr)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set, list := Load(files(map[string]string{"specs/g/n.toml": tt.text}), "specs")
			got := ""
			if err := list.Err(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if tt.want == "" && set.Specs[0].Tensors[1].Expr.Value != "x" {
				t.Errorf("the spec is not read: %+v", set.Specs[0])
			}
		})
	}
}

// TestCRLFText checks that a value does not depend on the line ends of its file.
func TestCRLFText(t *testing.T) {
	text := "doc = \"\"\"\none\ntwo\"\"\"\n" + minimal
	lf, _ := Parse("specs/g/n.toml", []byte(text))
	crlf, list := Parse("specs/g/n.toml", []byte(strings.ReplaceAll(text, "\n", "\r\n")))
	if len(list) > 0 || lf.Doc.Value != "one\ntwo" || crlf.Doc.Value != lf.Doc.Value {
		t.Errorf("got %q and %q: %v", lf.Doc.Value, crlf.Doc.Value, list.Err())
	}
}

// TestFolder checks where specs may lie and how they may be called.
func TestFolder(t *testing.T) {
	tests := []struct {
		name  string
		files []string
		want  []string
	}{
		{"good", []string{"specs/g/a.toml", "specs/h/b.toml", "specs/schema.json", "specs/g/.#a.toml", "specs/.git/c.toml", "specs/g/a.metal"}, nil},
		{"build names", []string{"specs/g/scatter_windows.toml", "specs/g/loss_test.toml", "specs/g/pool_arm64.toml", "specs/g/foo_js.toml", "specs/g/_z.toml", "specs/g/a_unix.toml", "specs/g/main.toml", "specs/g/init.toml", "specs/g/func.toml"}, nil},
		{"not in a group", []string{"specs/a.toml"}, []string{
			"specs/a.toml:1:1: a spec must lie in a folder of specs, its group (move it to specs/GROUP/a.toml)"}},
		{"too deep", []string{"specs/g/h/a.toml"}, []string{
			"specs/g/h/a.toml:1:1: a spec must lie in a folder of specs, its group (move it to specs/GROUP/a.toml)"}},
		{"group name", []string{"specs/G/a.toml", "specs/1/a.toml"}, []string{
			`specs/1/a.toml:1:1: the folder name "1" is no lower-case identifier, so it cannot name a group`,
			`specs/G/a.toml:1:1: the folder name "G" is no lower-case identifier, so it cannot name a group`}},
		{"spec name", []string{"specs/g/A.toml", "specs/g/a-b.toml", "specs/g/_.toml", "specs/g/b.TOML", "specs/g/a b.toml", "specs/g/ä.toml"}, []string{
			`specs/g/A.toml:1:1: the file name "A" is no lower-case identifier, so it cannot name a spec`,
			`specs/g/_.toml:1:1: the file name "_" is no lower-case identifier, so it cannot name a spec`,
			`specs/g/a b.toml:1:1: the file name "a b" is no lower-case identifier, so it cannot name a spec`,
			`specs/g/a-b.toml:1:1: the file name "a-b" is no lower-case identifier, so it cannot name a spec`,
			`specs/g/b.TOML:1:1: the file name ends in .TOML, not in .toml`,
			`specs/g/ä.toml:1:1: the file name "ä" is no lower-case identifier, so it cannot name a spec`}},
		{"no exported name", []string{"specs/g/_1.toml"}, []string{
			`specs/g/_1.toml:1:1: the spec name "_1" gives no exported Go name (give the key go)`}},
		{"same names", []string{"specs/g/layer_norm.toml", "specs/h/layernorm.toml", "specs/g/a.toml", "specs/h/a.toml", "specs/g/b.toml", "specs/g/b_deferred.toml"}, []string{
			`specs/g/b_deferred.toml:1:1: the name "b_deferred" collides with "BDeferred" at specs/g/b.toml:1:1 (names are compared without case and underscores; rename one, or give another go name)`,
			`specs/h/a.toml:1:1: the name "a" collides with "a" at specs/g/a.toml:1:1 (names are compared without case and underscores; rename one, or give another go name)`,
			`specs/h/layernorm.toml:1:1: the name "layernorm" collides with "layer_norm" at specs/g/layer_norm.toml:1:1 (names are compared without case and underscores; rename one, or give another go name)`}},
		{"nothing", []string{"specs/schema.json"}, []string{
			"specs: no specs: the folder holds no .toml file (put a kernel into specs/GROUP/NAME.toml)"}},
		{"no folder", []string{"other/g/a.toml"}, []string{
			"specs: cannot read specs: file does not exist"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			texts := map[string]string{}
			for _, f := range tt.files {
				texts[f] = minimal
			}
			_, list := Load(files(texts), "specs")
			var got []string
			if err := list.Err(); err != nil {
				got = strings.Split(err.Error(), "\n")
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestGradNames checks that gradients take part in the comparison of names.
func TestGradNames(t *testing.T) {
	grad := minimal + "[grad]\nwrt = [\"x\"]\n"
	_, list := Load(files(map[string]string{
		"specs/g/a.toml":      grad,
		"specs/g/a_grad.toml": minimal,
		"specs/g/b.toml":      grad + "name = \"c_back\"\n",
		"specs/g/c_back.toml": minimal,
	}), "specs")
	got := fmt.Sprint(list.Err())
	for _, want := range []string{`specs/g/a_grad.toml:1:1: the name "a_grad" collides with "a_grad" at specs/g/a.toml:7:2`, `specs/g/c_back.toml:1:1: the name "c_back" collides with "c_back" at specs/g/b.toml:9:8`} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant in it\n%s", got, want)
		}
	}
}

// TestAllAtOnce checks that one run reports every mistake of every file.
func TestAllAtOnce(t *testing.T) {
	texts := map[string]string{}
	for i := range 10 {
		texts[fmt.Sprintf("specs/g/k%d.toml", i)] = strings.Repeat("\n", i) + "nope = 1\n" + minimal
	}
	texts["specs/g/k3.toml"] = "\n\ndoc = \"open\n"
	set, list := Load(files(texts), "specs")
	if len(list) != 10 {
		t.Fatalf("got %d diagnostics, want 10:\n%v", len(list), list.Err())
	}
	for i, d := range list {
		line := i + 1
		if i == 3 {
			line = 3
		}
		if d.Pos.File != fmt.Sprintf("specs/g/k%d.toml", i) || d.Pos.Line != line {
			t.Errorf("diagnostic %d: %v", i, d)
		}
	}
	if len(set.Specs) != 9 || len(set.Broken) != 1 || set.Broken[0] != "k3" {
		t.Errorf("got %d specs, broken %v", len(set.Specs), set.Broken)
	}
	if string(set.Source("specs/g/k3.toml")) != texts["specs/g/k3.toml"] {
		t.Error("the text of the broken file is not kept")
	}
}

func TestGoName(t *testing.T) {
	tests := map[string]string{
		"layernorm_forward": "LayerNormForward", "gelu": "GELU", "gelu_erf": "GELUErf", "adamw": "AdamW",
		"rmsnorm": "RMSNorm", "sgd": "SGD", "add_broadcast_2d_3d": "AddBroadcast2D3D", "l2_normalize": "L2Normalize",
		"im2col": "Im2Col", "fused_matmul_add_gelu": "FusedMatMulAddGELU", "log_softmax": "LogSoftmax",
		"func": "Func", "_z": "Z", "pack_w_to_col": "PackWToCol", "unpack_dw_col": "UnpackDWCol",
	}
	for name, want := range tests {
		if got := GoName(name); got != want {
			t.Errorf("GoName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestGoKey(t *testing.T) {
	s, list := Parse("specs/g/my_kernel.toml", []byte("go = \"MyKern\"\n"+minimal))
	if len(list) > 0 || s.GoName != "MyKern" || s.Name != "my_kernel" || s.Group != "g" {
		t.Errorf("got %+v, %v", s, list.Err())
	}
}

// TestNumbers checks the numbers that the issue of 1 and 1.0 is about: what is
// accepted, and as what.
func TestNumbers(t *testing.T) {
	tests := []struct {
		typ, lit string
		ok       bool
	}{
		{"f32", "1", true}, {"f32", "1.0", true}, {"f32", "1e-5", true}, {"f32", "inf", true}, {"f32", "-inf", true},
		{"f32", "nan", true}, {"f32", "-0.0", true}, {"f32", "16777216", true}, {"f32", "16777217", false},
		{"f32", "9007199254740993", false}, {"f32", "9223372036854775807", false}, {"f32", "0x10", true},
		{"f32", "3.5e38", false}, {"f32", "1e-46", false}, {"f32", "true", false},
		{"i32", "256", true}, {"i32", "256.0", false}, {"i32", "-2147483648", true}, {"i32", "2147483648", false},
		{"i32", "inf", false}, {"u32", "4294967295", true}, {"u32", "4294967296", false}, {"u32", "-1", false},
		{"u64", "9223372036854775807", true}, {"u64", "1.5", false}, {"bool", "false", true}, {"bool", "0", false},
	}
	for _, tt := range tests {
		text := fmt.Sprintf("%s[param.p]\ntype = %q\ndefault = %s\n", minimal, tt.typ, tt.lit)
		s, list := Parse("specs/g/n.toml", []byte(text))
		if ok := len(list) == 0; ok != tt.ok {
			t.Errorf("%s = %s: got %v, want accepted = %v", tt.typ, tt.lit, list.Err(), tt.ok)
		}
		if has := s.Params[0].Default != nil; has != tt.ok {
			t.Errorf("%s = %s: default kept = %v", tt.typ, tt.lit, has)
		}
	}
}
