package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/expr"
)

// Row describes one kernel, or one derived gradient, in a list.
type Row struct {
	Name   string `json:"name"`
	Group  string `json:"group"`
	Family string `json:"family"`
	// DTypes has one element for each variant: the storage types of the type
	// variables, joined by a slash where there are several. It is empty when the
	// spec has no type variables.
	DTypes []string `json:"dtypes"`
	// Targets are those that have kernels for it: c, msl, cuda. The Go reference
	// always exists.
	Targets []string `json:"targets"`
	// AliasOf is the spec of which this is another name.
	AliasOf string `json:"alias_of,omitempty"`
	// Grad is the name of the derived gradient, empty when there is none.
	Grad string `json:"grad"`
	Spec string `json:"spec"`
}

// Rows returns a row for each spec, and after it one for each of its other names
// and one for its gradient, in the order of the specs' paths.
func (r *Result) Rows() []Row {
	rows := []Row{}
	for _, s := range r.Specs {
		row := s.row(s.Ops)
		if s.Grad != nil {
			row.Grad = s.Grad.Name
		}
		rows = append(rows, row)
		for _, name := range s.Also {
			other := row
			other.Name, other.AliasOf = name, s.Name
			rows = append(rows, other)
		}
		if grads := s.gradients(); len(grads) > 0 {
			rows = append(rows, s.row(grads))
		}
	}
	return rows
}

// gradients returns the derived gradients of the spec's ops.
func (s *Spec) gradients() []*Op {
	var ops []*Op
	for _, op := range s.Ops {
		if op.Grad != nil {
			ops = append(ops, op.Grad.Op)
		}
	}
	return ops
}

func (s *Spec) row(ops []*Op) Row {
	row := Row{
		Name: ops[0].Name, Group: s.Group, Family: ops[0].Family(), Spec: s.File,
		DTypes: []string{}, Targets: []string{},
	}
	for _, p := range ops[0].Programs {
		if len(p.Types) > 0 {
			row.DTypes = append(row.DTypes, DTypeName(p))
		}
	}
	for _, t := range ops[0].Targets() {
		if !slices.ContainsFunc(ops, func(op *Op) bool { return !slices.Contains(op.Targets(), t) }) {
			row.Targets = append(row.Targets, t)
		}
	}
	return row
}

// DTypeName names a variant by the storage types of its type variables:
// "f32", "f32/f16".
func DTypeName(p *expr.Program) string {
	var names []string
	for _, t := range p.Types {
		names = append(names, t.String())
	}
	return strings.Join(names, "/")
}

// Unlowered returns a line for each op that has no kernels for a target, with
// the reason.
func (r *Result) Unlowered() []string {
	var lines []string
	for _, s := range r.Specs {
		for _, op := range s.all() {
			for _, t := range []bind.Target{bind.C, bind.MSL} {
				if err := op.Bound.Unlowered[t]; err != nil {
					lines = append(lines, fmt.Sprintf("%s: %s has no %s kernels: %v", s.File, op.Name, t, err))
				}
			}
		}
	}
	return lines
}
