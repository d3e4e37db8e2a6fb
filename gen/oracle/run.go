package oracle

import (
	"fmt"
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
)

// Call is what a program is run on.
type Call struct {
	Ins    []Array          // in the order of Program.Ins; not changed
	Params []Value          // in the order of Program.Params
	Free   map[string][]int // by name: the extent of each axis that the caller chooses, or the shape of a group
	Round  bool             // round outputs to their storage types, as a store from f32 does
}

// Result holds what a program computes.
type Result struct {
	Outs   []Array // in the order of Program.Outs
	InOuts []Array // the new values of the inouts, in the order of Program.Ins
}

// Named returns the results by name: of outputs, and of inouts their new values.
func (r *Result) Named(p *expr.Program) map[string]Array {
	named := map[string]Array{}
	for i, t := range p.Outs {
		named[t.Name] = r.Outs[i]
	}
	inouts := r.InOuts
	for _, t := range p.Ins {
		if t.Role == expr.InOut {
			named[t.Name], inouts = inouts[0], inouts[1:]
		}
	}
	return named
}

// Run runs p on call. Errors name op, tensor and sizes; a position outside its
// bounds gives a *BoundsError, a condition that does not hold a *RequireError.
func Run(p *expr.Program, call Call) (*Result, error) {
	if p.Raw != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, errRaw)
	}
	sizes, err := Check(p, call)
	if err != nil {
		return nil, err
	}
	if err := checkBounds(p, sizes, call); err != nil {
		return nil, err
	}
	r := newRunner(p, sizes, call)
	for _, s := range p.Steps {
		if err := r.step(s); err != nil {
			return nil, err
		}
	}
	return r.result(sizes, call.Round)
}

// Check finds the extents of the axes of p for a call, of whose inputs only the
// shapes count, and checks the conditions of p: what a host does before it
// launches anything.
func Check(p *expr.Program, call Call) (*Sizes, error) {
	shapes := make([][]int, len(call.Ins))
	for i, in := range call.Ins {
		shapes[i] = in.Shape
		if len(in.Data) != elements(in.Shape) {
			return nil, fmt.Errorf("%s: input %d has %d elements, its shape %v wants %d", p.Name, i, len(in.Data), in.Shape, elements(in.Shape))
		}
	}
	sizes, err := Unify(p, shapes, call.Params, call.Free)
	if err != nil {
		return nil, err
	}
	return sizes, checkRequires(p, sizes, call.Params)
}

// Bound returns the number that the elements of an input with bounds must be
// below, 0 for an input without.
func Bound(p *expr.Program, sizes *Sizes, params []Value, t *expr.Tensor) (int64, error) {
	if t.Bounds == nil {
		return 0, nil
	}
	return evalInt(p, sizes.Of, params, t.Bounds)
}

// Extent returns the extent that the formula of axis a gives for the extents of
// earlier axes.
func Extent(p *expr.Program, a *expr.Axis, params []Value, size func(*expr.Axis) int64) (int64, error) {
	return evalInt(p, size, params, a.Extent)
}

func checkRequires(p *expr.Program, sizes *Sizes, params []Value) error {
	for _, r := range p.Require {
		ok, err := evalBool(p, sizes.Of, params, r.Cond)
		if err != nil {
			return err
		}
		if !ok {
			return &RequireError{p.Name, r.Name, r.Text}
		}
	}
	return nil
}

// checkBounds looks at every element of the inputs that have bounds.
func checkBounds(p *expr.Program, sizes *Sizes, call Call) error {
	for i, t := range p.Ins {
		if t.Bounds == nil {
			continue
		}
		bound, err := Bound(p, sizes, call.Params, t)
		if err != nil {
			return err
		}
		for pos, v := range call.Ins[i].Data {
			id := int64(v)
			passes := id >= 0 && id < bound || t.Except != nil && id == call.Params[slices.Index(p.Params, t.Except)].I
			if !passes {
				return &BoundsError{p.Name, t.Name, int64(pos), id, bound}
			}
		}
	}
	return nil
}

// runner computes the steps of a program one after the other.
type runner struct {
	*compiler
	frame   frame
	written map[*expr.Tensor][]float64 // outputs and new values of inouts
}

func newRunner(p *expr.Program, sizes *Sizes, call Call) *runner {
	r := &runner{compiler: newCompiler(p, sizes.axis, sizes.Of), written: map[*expr.Tensor][]float64{}}
	r.frame = frame{index: make([]int64, len(p.Axes)), params: call.Params}
	for i, t := range p.Ins {
		r.add(t, call.Ins[i].Data)
	}
	return r
}

// add makes a tensor readable.
func (r *runner) add(t *expr.Tensor, data []float64) {
	r.tensor[t] = len(r.frame.data)
	r.frame.data = append(r.frame.data, data)
}

func (r *runner) step(s *expr.Step) error {
	value := r.stored(s.Expr)
	if r.err != nil {
		return r.err
	}
	out := make([]float64, r.count(s.Result.Axes))
	overAxes, over := r.axes(s.Over)
	reduce := reducer(s.Reduce, s.Expr.Kind(), r.count(s.Over))
	if len(out) > 0 {
		axes, extents := r.axes(s.Result.Axes)
		for i := range out {
			out[i] = reduce(&r.frame, overAxes, over, value)
			advance(r.frame.index, axes, extents)
		}
	}
	if s.Result.Role == expr.Let {
		r.add(s.Result, out)
	} else {
		r.written[s.Result] = out
	}
	return nil
}

func (r *runner) axes(list []*expr.Axis) (numbers []int, extents []int64) {
	for _, a := range list {
		numbers = append(numbers, r.axis[a])
		extents = append(extents, r.size(a))
	}
	return numbers, extents
}

func (r *runner) count(axes []*expr.Axis) int64 {
	n := int64(1)
	for _, a := range axes {
		n *= r.size(a)
	}
	return n
}

// advance moves index to the next position over the given axes, the last one
// fastest, and reports false when it is back at the first.
func advance(index []int64, axes []int, extents []int64) bool {
	for i := len(axes) - 1; i >= 0; i-- {
		a := axes[i]
		if index[a]++; index[a] < extents[i] {
			return true
		}
		index[a] = 0
	}
	return false
}

func (r *runner) result(sizes *Sizes, round bool) (*Result, error) {
	res := &Result{}
	for _, t := range r.p.Outs {
		a, err := r.take(t, sizes, round)
		if err != nil {
			return nil, err
		}
		res.Outs = append(res.Outs, a)
	}
	for _, t := range r.p.Ins {
		if t.Role != expr.InOut {
			continue
		}
		a, err := r.take(t, sizes, round)
		if err != nil {
			return nil, err
		}
		res.InOuts = append(res.InOuts, a)
	}
	return res, nil
}

func (r *runner) take(t *expr.Tensor, sizes *Sizes, round bool) (Array, error) {
	data, ok := r.written[t]
	if !ok {
		return Array{}, fmt.Errorf("%s: no step computes %s", r.p.Name, t.Name)
	}
	if round {
		for i := range data {
			data[i] = Round(data[i], t.Type)
		}
	}
	return Array{Shape: sizes.Shape(t), Data: data}, nil
}
