package grad

import (
	"slices"
	"strconv"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/expr"
)

// Decl says what to derive: the cotangents of the inputs Wrt from those of the
// outputs From.
type Decl struct {
	Name string   // name of the gradient; "" is the program's name with _grad
	Wrt  []string // float inputs, or list inputs by their common name
	From []string // outputs; empty means every float output that is not a saved value
	// Narrow names the outputs that some instance of the spec stores in less
	// than f32. No instance reads them where f32 would do, so that the gradients
	// of all instances have the same inputs.
	Narrow []string
	Pos    diag.Pos // where the declaration stands
}

// Result is a derived gradient and where its arguments come from.
type Result struct {
	Program *expr.Program
	In      []Source // for each of Program.Ins
	Params  []int    // the forward parameter for each of Program.Params
	Outs    []int    // the forward input whose cotangent each of Program.Outs is
}

// SourceKind says where an input of a gradient comes from.
type SourceKind uint8

// The sources: an input of the forward program, one of its outputs (saved
// values included), or the cotangent of one of its outputs.
const (
	FromIn SourceKind = iota
	FromOut
	FromCotangent
)

// Source is where an input of a gradient comes from: element Index of the
// forward program's Ins or Outs.
type Source struct {
	Kind  SourceKind
	Index int
}

// Derive returns the gradient of p. Its inputs are, each in forward order, the
// inputs that it reads or whose shape it needs, the outputs that it reads, and
// the cotangents d_NAME of the outputs in d.From; its outputs are the d_NAME of
// d.Wrt, with the shape and type of those inputs. p is not changed.
//
// An optional input that p was instantiated without is left out of Wrt, an
// optional output out of From. The list holds every mistake of the declaration,
// and what in p has no derivative.
func Derive(p *expr.Program, d Decl) (*Result, diag.List) {
	var list diag.List
	wrt := wanted(p, d, &list)
	from := seeds(p, d, &list)
	for _, s := range p.Steps {
		if s.Result.Role == expr.InOut {
			list.AddHint(s.Pos, "write the new value as an output", "%s: no gradient of a spec with an inout (%s)", p.Name, s.Result.Name)
		}
	}
	if len(list) == 0 && len(wrt) == 0 {
		list.Add(d.Pos, "%s: no gradient, for it is with respect to no input", p.Name)
	}
	if len(list) > 0 {
		return nil, list
	}
	b := newBuilder(p, wrt, d.Narrow, &list)
	b.seed(from)
	for i := len(p.Steps) - 1; i >= 0; i-- {
		b.reverse(p.Steps[i])
	}
	if len(list) > 0 {
		return nil, list
	}
	name := d.Name
	if name == "" {
		name = p.Name + "_grad"
	}
	return b.assemble(name), nil
}

// wanted resolves d.Wrt to inputs of p.
func wanted(p *expr.Program, d Decl, list *diag.List) []int {
	var wrt []int
	for _, name := range d.Wrt {
		found := false
		for i, t := range p.Ins {
			piece := t.List > 0 && t.Name == name+"_"+strconv.Itoa(t.List)
			if t.Name != name && !piece {
				continue
			}
			found = true
			switch {
			case expr.ValueKind(t) != expr.Float:
				list.Add(d.Pos, "%s: no gradient with respect to %s, whose values are not float", p.Name, t.Name)
			case twice(t.Axes):
				list.Add(d.Pos, "%s: no gradient with respect to %s, which has an axis twice", p.Name, t.Name)
			case !slices.Contains(wrt, i):
				wrt = append(wrt, i)
			}
		}
		if !found && !without(p, name) {
			list.Add(d.Pos, "%s: no gradient with respect to %s, which is not an input", p.Name, name)
		}
	}
	return wrt
}

// seeds resolves d.From to outputs of p.
func seeds(p *expr.Program, d Decl, list *diag.List) []int {
	var from []int
	if len(d.From) == 0 {
		for i, t := range p.Outs {
			if !t.Save && expr.ValueKind(t) == expr.Float {
				from = append(from, i)
			}
		}
		if len(from) == 0 {
			list.Add(d.Pos, "%s: no gradient, for no output is float", p.Name)
		}
		return from
	}
	for _, name := range d.From {
		i := slices.IndexFunc(p.Outs, func(t *expr.Tensor) bool { return t.Name == name })
		switch {
		case i < 0 && without(p, name):
		case i < 0:
			list.Add(d.Pos, "%s: no gradient from %s, which is not an output", p.Name, name)
		case expr.ValueKind(p.Outs[i]) != expr.Float:
			list.Add(d.Pos, "%s: no gradient from %s, whose values are not float", p.Name, name)
		case !slices.Contains(from, i):
			from = append(from, i)
		}
	}
	return from
}

// without reports whether p is the instance without the optional tensor name.
func without(p *expr.Program, name string) bool {
	return slices.Contains(p.Static, expr.Choice{Name: name, Value: "without"})
}

func twice(axes []*expr.Axis) bool {
	for i, a := range axes {
		if slices.Contains(axes[:i], a) {
			return true
		}
	}
	return false
}
