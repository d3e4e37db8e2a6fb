package expr

import (
	"strconv"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/spec"
)

// maxSlots is how many buffers a kernel can bind (Metal's limit). One is the
// parameter block, one the fault word.
const maxSlots = 31

// What an op's descriptor can hold: it numbers parameters by bytes, and the runtime
// keeps a bit for each axis.
const (
	maxParams = 255
	maxAxes   = 64
)

// instance builds the Program of a spec for one choice of statics and types.
type instance struct {
	c      *checker
	u      *unit
	static []Choice
	types  []DType
	list   *diag.List

	prog    *Program
	axes    map[string]*Axis
	tensors map[string]*Tensor    // by name; lets only once they are computed
	lists   map[string]*listInput // list inputs by name
	params  map[string]*Param
	facts   *facts
	bad     map[string]bool // lets that could not be checked; reads of them stay silent
}

// listInput is an input given in pieces along axis Along.
type listInput struct {
	pieces []*Tensor
	along  *Axis
	shape  *Tensor // what the pieces make together; it is no argument
}

func (in *instance) build() *Program {
	u := in.u
	in.prog = &Program{
		Name: u.spec.Name, Doc: u.spec.Doc.Value, Source: u.spec.Source.Value,
		File: u.spec.File, Family: u.spec.Family.Value,
		Types: in.types, Static: in.static,
	}
	in.axes, in.params = map[string]*Axis{}, map[string]*Param{}
	in.tensors, in.lists, in.bad = map[string]*Tensor{}, map[string]*listInput{}, map[string]bool{}
	in.addParams()
	in.addAxes()
	in.addTensors()
	in.addRequires()
	in.facts = newFacts(in.prog)
	in.addBounds()
	if u.spec.Raw != nil {
		in.addRaw()
	} else {
		in.addSteps()
	}
	in.checkLimits()
	return in.prog
}

// addSteps makes the steps of all tensors but the inputs.
func (in *instance) addSteps() {
	for _, d := range in.u.tensors {
		if d.Kind != spec.In && in.present(d) {
			in.step(d)
		}
	}
	in.addSaved()
	in.prune()
}

// choice returns the value of a static choice, "" if there is none.
func (in *instance) choice(name string) string {
	for _, c := range in.static {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

func (in *instance) present(d *decl) bool { return !d.Optional || in.choice(d.name) != Without }

var paramTypes = map[string]ParamType{
	"f32": ParamF32, "i32": ParamI32, "u32": ParamU32, "u64": ParamU64, "bool": ParamBool,
}

func (t ParamType) kind() Kind { return [...]Kind{Float, Int, Uint, Uint64, Bool}[t] }

func (in *instance) addParams() {
	for i := range in.u.spec.Params {
		s := &in.u.spec.Params[i]
		if !s.Type.IsSet() {
			in.bad[s.Name.Value] = true
			continue
		}
		p := &Param{Name: s.Name.Value, Type: paramTypes[s.Type.Value], Doc: s.Doc.Value, Pos: s.Name.Pos()}
		if s.Default != nil {
			p.Default = paramDefault(p.Type, s.Default)
		}
		in.prog.Params = append(in.prog.Params, p)
		in.params[p.Name] = p
	}
}

// paramDefault turns a default into a Const; package spec has seen that it fits.
func paramDefault(t ParamType, v *spec.Value) *Const {
	c := &Const{Node: Node{t.kind(), v.Pos()}}
	switch t {
	case ParamF32:
		c.F, _ = v.AsFloat32()
	case ParamI32:
		c.I = v.Int
	case ParamU32, ParamU64:
		c.U = uint64(v.Int)
	case ParamBool:
		if v.Bool {
			c.I = 1
		}
	}
	return c
}

// shape returns the shape of a tensor under the choices made.
func (in *instance) shape(d *decl) []shapeDim {
	var found *shapeCase
	for i := range d.shapes {
		s := &d.shapes[i]
		if !in.holds(s.cond) {
			continue
		}
		if found != nil {
			in.list.Add(s.at, "two shapes of %s hold for the same choice; see %s", d.name, found.at)
			break
		}
		found = s
	}
	if found == nil {
		if len(d.shapes) > 0 {
			in.list.Add(d.Shape.Pos, "no shape of %s holds for %s", d.name, formatChoices(in.static))
		}
		return nil
	}
	return found.dims
}

func (in *instance) holds(cond []Choice) bool {
	for _, c := range cond {
		if in.choice(c.Name) != c.Value {
			return false
		}
	}
	return true
}

func formatChoices(cs []Choice) string {
	s := ""
	for i, c := range cs {
		if i > 0 {
			s += ","
		}
		s += c.Name + "=" + c.Value
	}
	return strconv.Quote(s)
}

// addTensors makes the inputs, inouts and outputs; outputs and inouts get their
// value in their steps.
func (in *instance) addTensors() {
	for _, d := range in.u.tensors {
		if d.Kind == spec.Let || d.Kind == spec.Temp || !in.present(d) {
			continue
		}
		if d.List.IsSet() {
			in.addList(d)
			continue
		}
		t := in.tensor(d, d.name, in.dims(d, in.shape(d), "", 0))
		if d.Kind == spec.Out {
			in.prog.Outs = append(in.prog.Outs, t)
		} else {
			in.prog.Ins = append(in.prog.Ins, t)
		}
		in.tensors[d.name] = t
	}
}

var roles = map[spec.TensorKind]Role{spec.In: In, spec.InOut: InOut, spec.Let: Let, spec.Out: Out, spec.Temp: Let}

func (in *instance) tensor(d *decl, name string, shape []Dim) *Tensor {
	t := &Tensor{
		Name: name, Role: roles[d.Kind], Shape: shape, Axes: flatten(shape),
		Type: in.dtype(d), Doc: d.Doc.Value, Pos: d.Name.Pos(),
	}
	if d.Fill != nil {
		t.Fill = in.fill(d, t.Type)
	}
	return t
}

func flatten(shape []Dim) []*Axis {
	var axes []*Axis
	for _, d := range shape {
		axes = append(axes, d...)
	}
	return axes
}

// dtype returns the storage type of a tensor under the binding of the types.
func (in *instance) dtype(d *decl) DType {
	name := in.u.typeName(d)
	for i, v := range in.u.spec.Types {
		if v.Name.Value == name {
			return in.types[i]
		}
	}
	t, ok := dtypes[name]
	switch {
	case ok:
	case name == "":
		in.list.AddHint(d.Name.Pos(), "give type, or dtypes for all", "%s has no type", d.name)
	default:
		in.list.AddHint(d.Type.Pos(), "one of f32 f16 bf16 i32 u8 or a type variable", "unknown type %q", name)
	}
	return t
}

func (in *instance) fill(d *decl, t DType) *Const {
	c := &Const{Node: Node{dtypeKind(t), d.Fill.Pos()}}
	var err error
	switch t {
	case I32:
		c.I, err = d.Fill.AsInt(-1<<31, 1<<31-1)
	case U8:
		c.I, err = d.Fill.AsInt(0, 255)
	default:
		c.F, err = d.Fill.AsFloat32()
	}
	if err != nil {
		in.list.Add(d.Fill.Pos(), "the fill of %s: %v", d.name, err)
	}
	return c
}

// dtypeKind is the kind of a value read from storage.
func dtypeKind(t DType) Kind {
	if t == I32 || t == U8 {
		return Int
	}
	return Float
}

// addBounds checks bounds and except of the inputs.
func (in *instance) addBounds() {
	for _, d := range in.u.tensors {
		if !d.Bounds.IsSet() || !in.present(d) {
			continue
		}
		e := &env{in: in, host: "bounds", list: in.list}
		bounds := e.whole(d.bounds, Int)
		var except *Param
		if d.Except.IsSet() {
			except = in.params[d.Except.Value]
			if except == nil || except.Type != ParamI32 {
				in.list.Add(d.Except.Pos(), "except names %q, which is no i32 parameter", d.Except.Value)
			}
		}
		for _, t := range in.prog.Ins {
			if t.Name != d.name && !in.isPiece(d, t) {
				continue
			}
			if t.Type != I32 && t.Type != U8 {
				in.list.Add(d.Bounds.Pos(), "bounds need a tensor of type i32 or u8")
			}
			t.Bounds, t.Except = bounds, except
		}
	}
}

func (in *instance) isPiece(d *decl, t *Tensor) bool {
	l := in.lists[d.name]
	return l != nil && t.List > 0 && l.pieces[min(t.List, len(l.pieces))-1] == t
}

// addRequires checks the conditions of [require] and drops those that hold by
// the static choices.
func (in *instance) addRequires() {
	for _, r := range in.u.require {
		if r.expr == nil {
			continue
		}
		e := &env{in: in, host: "a require", list: in.list}
		cond := e.whole(r.expr, Bool)
		if cond == nil {
			continue
		}
		if v, ok := constBool(cond); ok {
			if !v {
				in.list.Add(cond.Pos(), "the condition never holds")
			}
			continue
		}
		in.prog.Require = append(in.prog.Require, Require{Name: r.name.Value, Cond: cond, Text: r.text})
	}
}

// checkLimits reports a program with more buffers than a kernel can bind.
func (in *instance) checkLimits() {
	p := in.prog
	temps := 0
	if p.Raw != nil {
		temps = len(p.Raw.Temps)
	}
	if n := len(p.Ins) + len(p.Outs) + temps + 2; n > maxSlots {
		text := ""
		if temps > 0 {
			text = strconv.Itoa(temps) + " workspaces, "
		}
		in.list.AddHint(in.u.spec.Pos(), "split it into several specs",
			"%s binds %d buffers: %d inputs, %d outputs, %sthe parameter block and the fault word; at most %d are possible",
			p.Name, n, len(p.Ins), len(p.Outs), text, maxSlots)
	}
	if n := len(p.Params); n > maxParams {
		in.list.Add(in.u.spec.Pos(), "%s has %d parameters, at most %d are possible", p.Name, n, maxParams)
	}
	if n := len(p.Axes); n > maxAxes {
		in.list.Add(in.u.spec.Pos(), "%s has %d axes, at most %d are possible", p.Name, n, maxAxes)
	}
}
