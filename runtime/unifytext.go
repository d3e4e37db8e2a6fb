package runtime

import (
	"fmt"
	"strings"
)

// This file says in words what the unifier found.

// mismatch says that an axis of s differs from what is known.
func (u *unifier) mismatch(a int, n int64, s *shapeOf) *refusal {
	name, arg := u.op.Axes[a].Name, u.arg(s).Name
	if len(s.dims) == 1 {
		return &refusal{ErrShape, fmt.Sprintf("%s has %d elements, axis %s%s is %d", arg, n, name, u.source(a), u.size[a])}
	}
	return &refusal{ErrShape, fmt.Sprintf("axis %s of %s is %d, axis %s%s is %d (%s has shape %v)",
		name, arg, n, name, u.source(a), u.size[a], arg, s.dims)}
}

// otherGroup says that the dimensions of a group in s differ from what is known.
func (u *unifier) otherGroup(a int, s *shapeOf) *refusal {
	return &refusal{ErrShape, fmt.Sprintf("%s has shape %v, axes %s%s are %v",
		u.arg(s).Name, s.dims, u.op.Axes[a].Name, u.source(a), u.dimsOf(a))}
}

// dimsOf returns the dimensions of a group axis that is known.
func (u *unifier) dimsOf(a int) []int64 {
	g := &u.axes[a]
	return u.dims[g.at : g.at+g.n]
}

// notDerived says that an input has another extent than the one computed.
func (u *unifier) notDerived(a int, n int64) *refusal {
	return &refusal{ErrShape, fmt.Sprintf("axis %s%s is %d, must be %d with the inputs %s%s",
		u.op.Axes[a].Name, u.source(a), u.size[a], n, u.inputs(), u.params())}
}

func (u *unifier) wrongRank(s *shapeOf) *refusal {
	arg := u.arg(s)
	text := fmt.Sprintf("%s has shape %v, want %q", arg.Name, s.dims, u.declared(arg))
	for _, d := range arg.Shape {
		if a := int(d[0]); u.isGroup(d) && u.axes[a].at >= 0 {
			text += fmt.Sprintf(", %s%s is %v", u.dimName(d), u.source(a), u.dimsOf(a))
		}
	}
	return &refusal{ErrShape, text}
}

func (u *unifier) ambiguous() *refusal {
	return &refusal{ErrShape, fmt.Sprintf("the ranks of the axes in %s cannot be told apart", u.inputs())}
}

// source names the tensor that gave the extent of axis a.
func (u *unifier) source(a int) string {
	switch from := u.axes[a].from; {
	case from >= 0:
		return " of " + u.op.argument(int(from)).Name
	case from == fromCaller:
		return " as given"
	}
	return ""
}

func (u *unifier) inputs() string {
	parts := make([]string, len(u.shape))
	for i := range u.shape {
		parts[i] = fmt.Sprintf("%s %v", u.arg(&u.shape[i]).Name, u.shape[i].dims)
	}
	return strings.Join(parts, ", ")
}

func (u *unifier) params() string {
	var s strings.Builder
	for i, p := range u.op.Params {
		fmt.Fprintf(&s, ", %s = %s", p.Name, u.param[i].format(p.Type))
	}
	return s.String()
}

// declared returns a shape as the spec has it.
func (u *unifier) declared(arg *Arg) string {
	parts := make([]string, len(arg.Shape))
	for i, d := range arg.Shape {
		parts[i] = u.dimName(d)
	}
	return strings.Join(parts, " ")
}

func (u *unifier) dimName(d Dim) string {
	names := make([]string, len(d))
	for i, a := range d {
		names[i] = u.op.Axes[a].Name
		if u.op.Axes[a].Group {
			names[i] += "..."
		}
	}
	if len(names) == 1 {
		return names[0]
	}
	return "(" + strings.Join(names, " ") + ")"
}

// format formats the scalar as the caller wrote it.
func (s Scalar) format(t ParamType) string {
	switch t {
	case ParamF32:
		return formatFloat(s.F32())
	case ParamI32:
		return fmt.Sprint(s.I32())
	case ParamBool:
		return fmt.Sprint(s.Bool())
	}
	return fmt.Sprint(uint64(s))
}
