package spec

import (
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
)

// words gives the Go spelling of the words of spec names that are not simply
// capitalised. docs/spec-language.md lists them.
var words = map[string]string{
	"2d": "2D", "3d": "3D",
	"adamw": "AdamW", "col2im": "Col2Im", "dw": "DW", "gelu": "GELU", "im2col": "Im2Col",
	"kd": "KD", "kl": "KL", "layernorm": "LayerNorm", "lora": "LoRA", "matmul": "MatMul",
	"relu": "ReLU", "rmsnorm": "RMSNorm", "sgd": "SGD", "silu": "SiLU", "swiglu": "SwiGLU",
}

// GoName returns the exported Go name of a spec: its words, separated by
// underscores, each capitalised or spelt as in the table of words.
func GoName(name string) string {
	var b strings.Builder
	for w := range strings.SplitSeq(name, "_") {
		if special, ok := words[w]; ok {
			b.WriteString(special)
		} else if w != "" {
			b.WriteString(strings.ToUpper(w[:1]) + w[1:])
		}
	}
	return b.String()
}

// IsIdent reports whether s is an identifier of the language: letters of
// ASCII, digits and underscores, no digit first, more than underscores.
func IsIdent(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return strings.Trim(s, "_") != ""
}

// isLowerIdent reports whether s can name a spec or a group.
func isLowerIdent(s string) bool { return IsIdent(s) && s == strings.ToLower(s) }

func isExported(s string) bool { return IsIdent(s) && s[0] >= 'A' && s[0] <= 'Z' }

// claim is a name that generated code will hold.
type claim struct {
	key  string // how names are compared: lower case, no underscores
	name string
	spec *Spec
	pos  diag.Pos
}

// checkNames refuses specs whose Go functions or files would get the same name
// on some system: names are compared without case and underscores.
func checkNames(specs []*Spec) diag.List {
	var list diag.List
	first := map[string]claim{}
	for _, s := range specs {
		for _, c := range claims(s) {
			old, ok := first[c.key]
			if !ok {
				first[c.key] = c
			}
			if ok && old.spec != s {
				list.AddHint(c.pos, "names are compared without case and underscores; rename one, or give another go name",
					"the name %q collides with %q at %s", c.name, old.name, old.pos)
				break
			}
		}
	}
	return list
}

func claims(s *Spec) []claim {
	var cs []claim
	add := func(name string, pos diag.Pos) {
		key := strings.ToLower(strings.ReplaceAll(name, "_", ""))
		for _, c := range cs {
			if c.key == key {
				return
			}
		}
		cs = append(cs, claim{key, name, s, pos})
	}
	at := s.Pos()
	add(s.Name, at)
	if s.Go.IsSet() {
		at = s.Go.Pos()
	}
	add(s.GoName, at)
	add(s.GoName+"Deferred", at)
	if s.Grad != nil {
		name, pos := s.Name+"_grad", s.Grad.Pos
		if s.Grad.Name.IsSet() {
			name, pos = s.Grad.Name.Value, s.Grad.Name.Pos()
		}
		add(name, pos)
		add(name+"_deferred", pos)
	}
	return cs
}
