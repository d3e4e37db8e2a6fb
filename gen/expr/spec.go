package expr

import (
	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/spec"
)

// Spec is a checked spec: what holds for all instances, and the instances.
type Spec struct {
	Name   string // lower_snake_case, the name of the file
	Group  string
	File   string   // slash-separated, relative to the module root
	GoName string   // exported
	Also   []string // other names
	Doc    string
	Source string // where the formula comes from

	// TypeVars and Choices say what the instances are made of: the type
	// variables in their order, and the static choices with their values, first
	// those of [static], then optional tensors ("with", "without") and lists
	// ("1" to "8") in the order of the file.
	TypeVars []string
	Choices  []ChoiceSet

	// Instances holds a Program for each combination of choices (the first
	// choice varies slowest) and, within it, of the types of the type variables
	// (likewise). TypeNames gives for each input, inout and output by name the
	// type as written: a type variable or a storage type.
	Instances []*Program
	TypeNames map[string]string

	Raw     *spec.Raw // nil unless the kernels are written by hand
	Grad    *GradDecl // nil when the spec declares no gradient
	Fuses   string    // the pattern as written, "" when there is none
	Pattern *Pattern  // Fuses, parsed
}

// ChoiceSet is a static choice and all its values.
type ChoiceSet struct {
	Name   string
	Values []string
}

// GradDecl asks for a gradient: a derived one, or one that is a spec.
type GradDecl struct {
	Name   string      // of the gradient op
	GoName string      // its exported Go name
	Wrt    []string    // float inputs
	From   []string    // the float outputs that carry a cotangent
	Kernel *GradKernel // the spec that computes it, then Wrt and From are empty; nil when it is derived
}

// GradKernel is a gradient that is a spec. What an input or output of it stands
// for is an input or output of the forward spec by its name, or d_NAME for a
// cotangent; where In and Out say nothing, it is what has the same name.
type GradKernel struct {
	Name   string // of the spec
	Pos    diag.Pos
	Static []ChoiceCase
	In     []Renaming
	Out    []Renaming
}

// ChoiceCase says which choices of a GradKernel go with choices of the forward
// spec.
type ChoiceCase struct {
	When, Then []Choice
	Pos        diag.Pos // of Then
}

// Renaming says what a tensor of a GradKernel stands for.
type Renaming struct {
	Kernel, Forward string
	Pos             diag.Pos // of Kernel
}

// Pattern is a call of a spec (Args set) or an input of the fusing spec.
type Pattern struct {
	Name string
	Call bool
	Args []*Pattern
}

// Check parses and checks all specs of the set. It returns those without
// mistakes, in the order of the set, and every mistake that it finds.
func Check(set *spec.Set) ([]*Spec, diag.List) {
	c := newChecker(set)
	var specs []*Spec
	for _, u := range c.units {
		if s := c.check(u); s != nil {
			specs = append(specs, s)
		}
	}
	var list diag.List
	for _, u := range c.units {
		list = append(list, u.list...)
	}
	return specs, list
}

// checker holds what is known of all specs while they are checked.
type checker struct {
	units  []*unit
	byName map[string]*unit
	broken map[string]bool // specs whose files are not valid TOML
}

func newChecker(set *spec.Set) *checker {
	c := &checker{byName: map[string]*unit{}, broken: map[string]bool{}}
	for _, name := range set.Broken {
		c.broken[name] = true
	}
	for _, s := range set.Specs {
		u := newUnit(s)
		c.units = append(c.units, u)
		if c.byName[s.Name] == nil {
			c.byName[s.Name] = u
		}
	}
	c.findCycles()
	return c
}

func (c *checker) check(u *unit) *Spec {
	s := u.spec
	out := &Spec{
		Name: s.Name, Group: s.Group, File: s.File, GoName: s.GoName,
		Doc: s.Doc.Value, Source: s.Source.Value,
		TypeNames: u.typeNames(), Choices: u.choices(), Fuses: s.Pattern.Value,
		Raw: s.Raw, Also: names(s.Also),
	}
	for _, v := range s.Types {
		out.TypeVars = append(out.TypeVars, v.Name.Value)
	}
	u.checkUses()
	out.Grad = u.grad()
	out.Pattern = c.pattern(u)
	out.Instances = c.instances(u, out.Choices)
	if u.failed() {
		return nil
	}
	return out
}
