package runtime

import (
	"fmt"
	"strings"
)

// This file says in words what the unifier found.

// mismatch says that an axis of s differs from what is known.
func (u *unifier) mismatch(a int, n int64, s dimsOf) *refusal {
	name := u.op.Axes[a].Name
	if len(s.dims) == 1 {
		return &refusal{ErrShape, fmt.Sprintf("%s has %d elements, axis %s%s is %d", s.arg.Name, n, name, u.source(a), u.size[a])}
	}
	return &refusal{ErrShape, fmt.Sprintf("axis %s of %s is %d, axis %s%s is %d (%s has shape %v)",
		name, s.arg.Name, n, name, u.source(a), u.size[a], s.arg.Name, s.dims)}
}

// notDerived says that an input has another extent than the one computed.
func (u *unifier) notDerived(a int, n int64) *refusal {
	return &refusal{ErrShape, fmt.Sprintf("axis %s%s is %d, must be %d with the inputs %s%s",
		u.op.Axes[a].Name, u.source(a), u.size[a], n, u.inputs(), u.params())}
}

func (u *unifier) wrongRank(s dimsOf) *refusal {
	text := fmt.Sprintf("%s has shape %v, want %q", s.arg.Name, s.dims, u.declared(s.arg))
	for _, d := range s.arg.Shape {
		if u.isGroup(d) && u.group[d[0]].start >= 0 {
			g := u.group[d[0]]
			text += fmt.Sprintf(", %s%s is %v", u.dimName(d), u.source(int(d[0])), u.dims[g.start:g.start+g.n])
		}
	}
	return &refusal{ErrShape, text}
}

func (u *unifier) ambiguous() *refusal {
	return &refusal{ErrShape, fmt.Sprintf("the ranks of the axes in %s cannot be told apart", u.inputs())}
}

// source names the tensor that gave the extent of axis a.
func (u *unifier) source(a int) string {
	switch from := u.from[a]; {
	case from >= 0:
		return " of " + u.shape[from].arg.Name
	case from == fromCaller:
		return " as given"
	}
	return ""
}

func (u *unifier) inputs() string {
	parts := make([]string, len(u.shape))
	for i, s := range u.shape {
		parts[i] = fmt.Sprintf("%s %v", s.arg.Name, s.dims)
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
