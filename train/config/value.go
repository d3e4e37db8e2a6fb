package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kernelgen/kgen/internal/tomltree"
)

// value is the field of a Config that a key sets.
type value interface {
	// setNode takes the value of a file.
	setNode(n *tomltree.Node) error
	// setText takes the value of a flag.
	setText(s string) error
	// format returns the value as TOML.
	format() string
	// domain says what values there are.
	domain() string
}

// text is any string.
type text struct{ p *string }

func (v text) setNode(n *tomltree.Node) error {
	if n.Kind != tomltree.String {
		return fmt.Errorf("must be a string, not %s", n.Describe())
	}
	return v.setText(n.Val.Value)
}

func (v text) setText(s string) error { *v.p = s; return nil }
func (v text) format() string         { return quote(*v.p) }
func (v text) domain() string         { return "text" }

// quote returns a string as TOML has it.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// word is one of a few strings.
type word struct {
	p     *string
	words []string
}

func (v word) setNode(n *tomltree.Node) error {
	if n.Kind != tomltree.String {
		return fmt.Errorf("must be a string, not %s", n.Describe())
	}
	return v.setText(n.Val.Value)
}

func (v word) setText(s string) error {
	if !slices.Contains(v.words, s) {
		return fmt.Errorf("is %q, must be %s", s, v.domain())
	}
	*v.p = s
	return nil
}

func (v word) format() string { return quote(*v.p) }

func (v word) domain() string {
	last := len(v.words) - 1
	return strings.Join(v.words[:last], ", ") + " or " + v.words[last]
}

// whole is an integer from lo to hi.
type whole struct {
	p      *int
	lo, hi int
}

func (v whole) setNode(n *tomltree.Node) error {
	i, ok := n.Data.(int64)
	if !ok {
		return fmt.Errorf("must be a whole number, not %s", n.Describe())
	}
	return v.set(i)
}

func (v whole) setText(s string) error {
	i, err := strconv.ParseInt(s, 0, 64) // with base 0, as in TOML, underscores are let pass
	if err != nil {
		return fmt.Errorf("must be a whole number, not %q", s)
	}
	return v.set(i)
}

func (v whole) set(i int64) error {
	if i < int64(v.lo) || i > int64(v.hi) {
		return fmt.Errorf("is %d, must be in [%d, %d]", i, v.lo, v.hi)
	}
	*v.p = int(i)
	return nil
}

func (v whole) format() string { return strconv.Itoa(*v.p) }
func (v whole) domain() string { return "number" }

// number is a float from lo to hi; if open, the ends are excluded.
type number struct {
	p      *float64
	lo, hi float64
	open   bool
}

func (v number) setNode(n *tomltree.Node) error {
	switch x := n.Data.(type) {
	case float64:
		return v.set(x)
	case int64:
		return v.set(float64(x))
	}
	return fmt.Errorf("must be a number, not %s", n.Describe())
}

func (v number) setText(s string) error {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return fmt.Errorf("must be a number, not %q", s)
	}
	return v.set(x)
}

func (v number) set(x float64) error {
	within := x >= v.lo && x <= v.hi
	if v.open {
		within = x > v.lo && x < v.hi
	}
	if !within || math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Errorf("is %v, must be %s", x, v.limits())
	}
	*v.p = x
	return nil
}

func (v number) limits() string {
	switch {
	case !v.open && !math.IsInf(v.hi, 0):
		return fmt.Sprintf("in [%v, %v]", v.lo, v.hi)
	case !v.open:
		return fmt.Sprintf("finite and at least %v", v.lo)
	case !math.IsInf(v.hi, 0):
		return fmt.Sprintf("more than %v and less than %v", v.lo, v.hi)
	}
	return fmt.Sprintf("finite and more than %v", v.lo)
}

func (v number) format() string {
	s := strconv.FormatFloat(*v.p, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

func (v number) domain() string { return "number" }

// truth is true or false.
type truth struct{ p *bool }

func (v truth) setNode(n *tomltree.Node) error {
	b, ok := n.Data.(bool)
	if !ok {
		return fmt.Errorf("must be true or false, not %s", n.Describe())
	}
	*v.p = b
	return nil
}

func (v truth) setText(s string) error {
	if s != "true" && s != "false" {
		return fmt.Errorf("must be true or false, not %q", s)
	}
	*v.p = s == "true"
	return nil
}

func (v truth) format() string { return strconv.FormatBool(*v.p) }
func (v truth) domain() string { return "true or false" }

// rising is a list of integers from 1 to hi, each larger than the one before.
type rising struct {
	p  *[]int
	hi int
}

func (v rising) setNode(n *tomltree.Node) error {
	if n.Kind != tomltree.Array {
		return fmt.Errorf("must be a list of whole numbers, not %s", n.Describe())
	}
	list := make([]int64, len(n.Kids))
	for i, kid := range n.Kids {
		x, ok := kid.Data.(int64)
		if !ok {
			return fmt.Errorf("must be a list of whole numbers, its element %d is %s", i, kid.Describe())
		}
		list[i] = x
	}
	return v.set(list)
}

func (v rising) setText(s string) error {
	var list []int64
	for part := range strings.SplitSeq(s, ",") {
		x, err := strconv.ParseInt(strings.TrimSpace(part), 0, 64)
		if err != nil {
			return fmt.Errorf("must be whole numbers with commas between them, not %q", s)
		}
		list = append(list, x)
	}
	return v.set(list)
}

func (v rising) set(list []int64) error {
	to := make([]int, len(list))
	for i, x := range list {
		if x < 1 || x > int64(v.hi) {
			return fmt.Errorf("has the element %d, must be in [1, %d]", x, v.hi)
		}
		if i > 0 && x <= list[i-1] {
			return fmt.Errorf("has %d after %d, must rise", x, list[i-1])
		}
		to[i] = int(x)
	}
	*v.p = to
	return nil
}

func (v rising) format() string {
	parts := make([]string, len(*v.p))
	for i, x := range *v.p {
		parts[i] = strconv.Itoa(x)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (v rising) domain() string { return "numbers" }
