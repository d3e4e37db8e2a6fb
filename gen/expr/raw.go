package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/spec"
)

// Raw is what a program whose kernels are written by hand has in place of
// steps.
type Raw struct {
	Launches []*Launch // in order; each is a function of the sources
	Temps    []*Tensor // workspaces between the launches
	HasMSL   bool      // there is a Metal source
	HasCUDA  bool      // there is a CUDA source
}

// Launch is one launch of a kernel written by hand.
type Launch struct {
	Name string
	// On the CPU: the work items, what one costs (CostPS picoseconds times the
	// extents of Cost), and the scratch memory of a worker in bytes.
	Items   []Tile
	Cost    []*Axis
	CostPS  int64
	Scratch int64
	// On a GPU: the threadgroups, fastest dimension first, the threads of one
	// and the memory that they share. Without a source Groups is empty.
	Groups  []Tile
	Threads int
	Shared  []SharedArray
}

// Tile stands for ceil(product of the extents of Axes / Size) positions.
type Tile struct {
	Axes []*Axis
	Size int64
}

// SharedArray is an array of 32-bit elements in threadgroup memory.
type SharedArray struct {
	Name string
	Kind Kind // Float, Int or Uint
	Len  int64
}

// maxShared is how much threadgroup memory a group can have, in bytes (Metal's
// limit).
const maxShared = 32 << 10

// defaultCostPS is what a work item costs where nothing is said: a nanosecond
// for each position of its axes.
const defaultCostPS = 1000

// addRaw makes the launches and workspaces of a kernel written by hand.
func (in *instance) addRaw() {
	raw := in.u.spec.Raw
	r := &Raw{HasMSL: raw.Metal != nil, HasCUDA: raw.CUDA != nil}
	in.prog.Raw = r
	for _, d := range in.u.tensors {
		if d.Kind == spec.Temp {
			r.Temps = append(r.Temps, in.tensor(d, d.name, in.dims(d, in.shape(d), "", 0)))
		}
	}
	for i := range raw.Launches {
		r.Launches = append(r.Launches, in.launch(&raw.Launches[i]))
	}
}

func (in *instance) launch(s *spec.Launch) *Launch {
	l := &Launch{Name: s.Name.Value, CostPS: defaultCostPS}
	l.Items = in.tiles(s.Items)
	l.Groups = in.tiles(s.Groups)
	if s.Cost.IsSet() {
		l.Cost = in.axisList(s.Cost, s.Cost.Value)
	}
	for _, x := range []struct {
		from *spec.Value
		to   *int64
	}{{s.CostPS, &l.CostPS}, {s.Scratch, &l.Scratch}} {
		if x.from != nil {
			*x.to = x.from.Int
		}
	}
	if s.Threads != nil {
		l.Threads = int(s.Threads.Int)
	}
	l.Shared = in.shared(s.Shared)
	return l
}

// tiles parses texts such as "R" and "P D/4096".
func (in *instance) tiles(texts []spec.Text) []Tile {
	var tiles []Tile
	for _, t := range texts {
		axes, size, cut := strings.Cut(t.Value, "/")
		tile := Tile{Size: 1}
		if cut {
			n, err := strconv.ParseInt(strings.TrimSpace(size), 10, 32)
			if err != nil || n < 1 {
				in.list.AddHint(t.At(len(axes)+1), `such as "P D/4096"`, "%q is no tile size", strings.TrimSpace(size))
				continue
			}
			tile.Size = n
		}
		tile.Axes = in.axisList(t, axes)
		tiles = append(tiles, tile)
	}
	return tiles
}

// axisList resolves the names in text, the beginning of t.
func (in *instance) axisList(t spec.Text, text string) []*Axis {
	var axes []*Axis
	at := 0
	for _, name := range strings.Fields(text) {
		at += strings.Index(text[at:], name)
		switch a := in.axes[strings.TrimSuffix(name, "...")]; {
		case a == nil:
			in.list.Add(t.At(at), "%q is no axis whose extent is known", name)
		case slices.Contains(axes, a):
			in.list.Add(t.At(at), "the axis %s stands here twice", a.Name)
		default:
			axes = append(axes, a)
		}
		at += len(name)
	}
	return axes
}

var sharedKinds = map[string]Kind{"f32": Float, "i32": Int, "u32": Uint}

// shared parses threadgroup arrays: NAME = "TYPE LENGTH".
func (in *instance) shared(entries []spec.Entry) []SharedArray {
	var arrays []SharedArray
	bytes := int64(0)
	for _, e := range entries {
		typ, length, _ := strings.Cut(strings.TrimSpace(e.Expr.Value), " ")
		kind, ok := sharedKinds[typ]
		n, err := strconv.ParseInt(strings.TrimSpace(length), 10, 32)
		if !ok || err != nil || n < 1 {
			in.list.AddHint(e.Expr.Pos(), `such as "f32 32", of f32, i32 or u32`, "%q is no threadgroup array", e.Expr.Value)
			continue
		}
		if bytes += 4 * n; bytes > maxShared {
			in.list.Add(e.Expr.Pos(), "the threadgroup arrays up to %s take %d bytes, at most %d are possible", e.Name.Value, bytes, maxShared)
		}
		arrays = append(arrays, SharedArray{e.Name.Value, kind, n})
	}
	return arrays
}

// gradKernel checks the part of [grad] that names a spec, as far as this spec
// tells.
func (u *unit) gradKernel(g *spec.Grad) *GradKernel {
	k := &GradKernel{Name: g.Kernel.Value, Pos: g.Kernel.Pos()}
	for _, e := range g.Static {
		k.Static = append(k.Static, ChoiceCase{When: u.condition(e.Name), Then: splitChoices(e.Expr.Value), Pos: e.Expr.Pos()})
	}
	for _, e := range g.In {
		k.In = append(k.In, Renaming{e.Name.Value, e.Expr.Value, e.Name.Pos()})
		u.gradSource(e.Expr)
	}
	for _, e := range g.Out {
		k.Out = append(k.Out, Renaming{e.Name.Value, e.Expr.Value, e.Name.Pos()})
		u.gradResult(e.Expr.Value, e.Expr.Pos())
	}
	return k
}

// splitChoices parses "ta=n,tb=t"; package spec has checked its form.
func splitChoices(text string) []Choice {
	var list []Choice
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		list = append(list, Choice{strings.TrimSpace(name), strings.TrimSpace(value)})
	}
	return list
}

// gradSource reports what a gradient cannot be given.
func (u *unit) gradSource(t spec.Text) {
	if d := u.decl(t.Value); d != nil && d.Kind != spec.Let && d.Kind != spec.Temp {
		return
	}
	name, isCotangent := strings.CutPrefix(t.Value, "d_")
	d := u.decl(name)
	switch {
	case !isCotangent || d == nil || d.Kind != spec.Out:
		u.list.AddHint(t.Pos(), "an input, an output, or d_NAME for the cotangent of an output", "the gradient cannot be given %q", t.Value)
	case !u.isFloat(d):
		u.list.Add(t.Pos(), "the %s output %s has no cotangent: only float outputs have", u.typeName(d), d.name)
	}
}

// gradResult reports a result that is the cotangent of no float input.
func (u *unit) gradResult(text string, at diag.Pos) {
	name, _ := strings.CutPrefix(text, "d_")
	switch d := u.decl(name); {
	case name == text || d == nil || d.Kind != spec.In:
		u.list.AddHint(at, "d_NAME, the cotangent of the input NAME", "the gradient cannot give %q", text)
	case !u.isFloat(d):
		u.list.Add(at, "the %s input %s has no gradient: only float inputs have", u.typeName(d), d.name)
	}
}
