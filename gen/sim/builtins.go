package sim

import (
	"slices"
	"strconv"
	"strings"
)

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
	var width, vector, position, index *param
	for i := range k.params {
		p := &k.params[i]
		for _, a := range p.attrs {
			b, known := builtins[a.name]
			if !known {
				continue
			}
			if !checkBuiltin(f, p, a) {
				continue
			}
			lanes := lanesOf(p)
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
			switch a.name {
			case "thread_position_in_threadgroup":
				position = p
			case "thread_index_in_threadgroup":
				index = p
			}
			if a.name == "thread_execution_width" || a.name == "threads_per_simdgroup" {
				if width != nil {
					f.refuse(p.pos, "kernel function cannot have input declarations with 'thread_execution_width' and 'threads_per_simdgroup' attributes")
				}
				width = p
			}
		}
	}
	indexRule(f, position, index)
}

// checkBuiltin refuses a type that the built-in value of an attribute cannot have.
func checkBuiltin(f *findings, p *param, a attribute) bool {
	b := builtins[a.name]
	elem, lanes := scalarOf(p.typ)
	if (elem == "uint" || elem == "ushort") && lanes <= 3 && (b.vector || lanes == 1) && p.kind() == "" {
		return true
	}
	typ := p.typ
	if p.kind() != "" {
		typ = join(p.tokens[:max(1, len(p.tokens)-1)])
	}
	f.refuse(p.pos, "%s cannot have type %s: %s", a.name, typ, builtinTypes(b))
	return false
}

// indexRule says what a position of uint asks of the index beside it.
func indexRule(f *findings, position, index *param) {
	if position == nil || index == nil {
		return
	}
	if elem, _ := scalarOf(position.typ); elem == "uint" && index.typ != "uint" {
		f.refuse(index.pos, "thread_index_in_threadgroup has type %s where argument %s has type %s: it must be uint", index.typ, position.name, position.typ)
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
