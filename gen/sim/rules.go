package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// rules are Metal's rules that clang does not know, checked on the tokens. What
// they refuse is wrong for certain.
func (s *source) rules() []Finding {
	var f findings
	f.source = s
	s.wordRules(&f)
	s.pointerRules(&f)
	s.constantArrayRules(&f)
	for i := range s.kernels {
		s.kernelRules(&f, &s.kernels[i])
	}
	return f.list
}

// findings gathers what a pass over a source finds.
type findings struct {
	source *source
	list   []Finding
}

func (f *findings) refuse(pos int, format string, args ...any) {
	line, col := f.source.position(pos)
	f.list = append(f.list, Finding{Line: line, Col: col, Text: fmt.Sprintf(format, args...)})
}

func (f *findings) outside(pos int, format string, args ...any) {
	line, col := f.source.position(pos)
	f.list = append(f.list, Finding{Line: line, Col: col, Outside: true, Text: fmt.Sprintf(format, args...)})
}

// missingWords are parts of C++ that Metal lacks.
var missingWords = map[string]string{
	"goto":         "goto is not supported in Metal",
	"try":          "exceptions are not supported in Metal",
	"throw":        "exceptions are not supported in Metal",
	"dynamic_cast": "dynamic_cast is not supported in Metal",
	"typeid":       "typeid is not supported in Metal",
	"thread_local": "thread_local is not supported in Metal",
	"virtual":      "virtual functions are not supported in Metal",
	"delete":       "the delete operator is not supported in Metal",
	"new":          "the new operator is not supported in Metal",
	"double":       "'double' is not supported in Metal",
	"asm":          "asm is not supported in Metal",
}

func (s *source) wordRules(f *findings) {
	depth := 0 // of function bodies
	for i, t := range s.code {
		switch {
		case t.macro: // clang judges it where it is used
		case t.is("{"):
			if depth > 0 || s.opensBody(i) {
				depth++
			}
		case t.is("}"):
			if depth > 0 {
				depth--
			}
		case t.is("static") && depth > 0:
			f.refuse(t.pos, "static is for program scope, not for a variable of a function")
		case t.is("delete") && i > 0 && s.code[i-1].is("="): // a deleted function
		case t.kind == identToken && missingWords[t.text] != "" && (i == 0 || !s.code[i-1].is(".")):
			f.refuse(t.pos, "%s", missingWords[t.text])
		}
	}
}

// opensBody says whether the brace at i opens a function: it follows the
// parameter list, or the words that may stand between.
func (s *source) opensBody(i int) bool {
	for i--; i >= 0; i-- {
		t := s.code[i]
		if t.is(")") {
			return true
		}
		if !t.is("const") && !t.is("mutable") && !spaceWords[t.text] {
			return false
		}
	}
	return false
}

// constantArrayRules refuses an array that is sized by a function constant.
func (s *source) constantArrayRules(f *findings) {
	constants := map[string]bool{}
	for i, attrs := range s.attrs {
		for _, a := range attrs {
			if a.name == "function_constant" && i > 0 && i < len(s.code) && s.code[i].is(";") {
				constants[s.code[i-1].text] = true
			}
		}
	}
	for i := 2; i+2 < len(s.code); i++ {
		t := s.code
		if t[i].is("[") && t[i-1].kind == identToken && (t[i-2].kind == identToken || t[i-2].is(">")) && constants[t[i+1].text] && t[i+2].is("]") {
			f.refuse(t[i+1].pos, "variable length arrays are not supported in Metal: %s is a function constant", t[i+1].text)
		}
	}
}

// maxSlots is the number of buffer and of threadgroup arguments of a kernel.
const maxSlots = 31

func (s *source) kernelRules(f *findings, k *kernelDecl) {
	if k.returnsVal {
		f.refuse(k.pos, "kernel %s must return void", k.name)
	}
	s.slotRules(f, k)
	s.builtinRules(f, k)
	for i := range k.params {
		p := &k.params[i]
		if elem, _ := scalarOf(p.typ); p.pointer || p.ref || len(p.attrs) > 0 || k.template || !isElement(elem) {
			continue
		}
		f.refuse(p.pos, "argument %s of kernel %s is passed by value and has no attribute", p.name, k.name)
	}
}

// slotRules checks that a buffer or threadgroup index stands once per kernel.
func (s *source) slotRules(f *findings, k *kernelDecl) {
	for _, kind := range []string{"buffer", "threadgroup"} {
		seen := map[int]string{}
		for i := range k.params {
			p := &k.params[i]
			n, ok := p.index(kind)
			if !ok {
				continue
			}
			a, _ := p.attr(kind)
			if n >= maxSlots {
				f.refuse(a.pos, "%s index %d of argument %s: the highest is %d", kind, n, p.name, maxSlots-1)
			}
			_, conditional := p.attr("function_constant")
			if first, twice := seen[n]; twice && !conditional {
				f.refuse(a.pos, "%s index %d of argument %s is taken by argument %s", kind, n, p.name, first)
			}
			seen[n] = p.name
		}
	}
}

// assignSlots gives each buffer and threadgroup argument its index: the one
// that it names, or the first free one.
func (k *kernelDecl) assignSlots() []int {
	slots := make([]int, len(k.params))
	for _, kind := range []string{"buffer", "threadgroup"} {
		used := map[int]bool{}
		for i := range k.params {
			if n, ok := k.params[i].index(kind); ok {
				slots[i], used[n] = n, true
			}
		}
		for i := range k.params {
			p := &k.params[i]
			if _, ok := p.index(kind); ok || p.kind() != kind {
				continue
			}
			n := 0
			for used[n] {
				n++
			}
			slots[i], used[n] = n, true
		}
	}
	return slots
}

// kind is "buffer", "threadgroup", or "" for a built-in value.
func (p *param) kind() string {
	switch {
	case !p.pointer && !p.ref:
		return ""
	case p.space == threadgroupSpace:
		return "threadgroup"
	}
	return "buffer"
}

// builtin describes an attribute of a built-in value.
type builtin struct {
	vector bool   // ushort to uint3; else ushort or uint
	group  string // attributes of one group have one type
}

var builtins = map[string]builtin{
	"thread_position_in_grid":             {true, "grid"},
	"threads_per_grid":                    {true, "grid"},
	"thread_position_in_threadgroup":      {true, "threadgroup"},
	"threads_per_threadgroup":             {true, "threadgroup"},
	"dispatch_threads_per_threadgroup":    {true, "threadgroup"},
	"threadgroup_position_in_grid":        {true, "groups"},
	"threadgroups_per_grid":               {true, "groups"},
	"thread_index_in_threadgroup":         {false, "index"},
	"thread_index_in_simdgroup":           {false, "simd"},
	"simdgroup_index_in_threadgroup":      {false, "simd"},
	"simdgroups_per_threadgroup":          {false, "simd"},
	"threads_per_simdgroup":               {false, "simd"},
	"thread_execution_width":              {false, "simd"},
	"dispatch_simdgroups_per_threadgroup": {false, "simd"},
	"thread_index_in_quadgroup":           {false, "simd"},
	"quadgroup_index_in_threadgroup":      {false, "simd"},
	"quadgroups_per_threadgroup":          {false, "simd"},
	"dispatch_quadgroups_per_threadgroup": {false, "simd"},
}

// scalarOf splits a type of a built-in value into element and lanes.
func scalarOf(typ string) (elem string, lanes int) {
	typ = strings.TrimPrefix(typ, "metal::")
	lanes = 1
	if n := len(typ); n > 0 && isDigit(typ[n-1]) {
		lanes, _ = strconv.Atoi(typ[n-1:])
		typ = typ[:n-1]
	}
	return typ, lanes
}

func isElement(typ string) bool {
	return typ == "bool" || typ == "bfloat" || slices.Contains(elementTypes, typ)
}

func (s *source) builtinRules(f *findings, k *kernelDecl) {
	types := map[string]*param{} // the first argument of each group
	var width, vector *param
	for i := range k.params {
		p := &k.params[i]
		for _, a := range p.attrs {
			b, known := builtins[a.name]
			if !known {
				continue
			}
			elem, lanes := scalarOf(p.typ)
			if elem != "uint" && elem != "ushort" || lanes > 3 || !b.vector && lanes != 1 {
				f.refuse(p.pos, "%s cannot have type %s: %s", a.name, p.typ, builtinTypes(b))
				continue
			}
			if first := types[b.group]; first != nil && first.typ != p.typ {
				f.refuse(p.pos, "%s has type %s where argument %s has type %s: the two must agree", a.name, p.typ, first.name, first.typ)
			} else if first == nil {
				types[b.group] = p
			}
			if b.vector {
				if vector != nil && lanesOf(vector) != lanes && types[b.group] == p {
					f.refuse(p.pos, "%s has %d components where argument %s has %d: the grid positions must agree", a.name, lanes, vector.name, lanesOf(vector))
				}
				vector = p
			}
			if a.name == "thread_execution_width" || a.name == "threads_per_simdgroup" {
				if width != nil {
					f.refuse(p.pos, "kernel function cannot have input declarations with 'thread_execution_width' and 'threads_per_simdgroup' attributes")
				}
				width = p
			}
		}
	}
}

func lanesOf(p *param) int {
	_, n := scalarOf(p.typ)
	return n
}

func builtinTypes(b builtin) string {
	if b.vector {
		return "ushort, ushort2, ushort3, uint, uint2 and uint3 are possible"
	}
	return "ushort and uint are possible"
}
