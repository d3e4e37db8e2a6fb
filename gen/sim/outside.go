package sim

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed names.txt
var namesText string

// metalNames are the names of Metal's headers and language. One that the
// stand-in does not declare makes a source lie outside of what it checks.
func metalNames() map[string]bool { return set(strings.Fields(namesText)...) }

// headers are the includes that the stand-in has.
var headers = set("metal_stdlib", "metal_math", "metal_atomic", "metal_simdgroup", "metal_integer", "metal_limits",
	"metal_types", "metal_common", "metal_geometric", "metal_relational", "metal_compute", "metal_simdgroup_matrix", "metal_logging", "simd/simd.h")

// plainAttributes change nothing that the stand-in checks.
var plainAttributes = set("buffer", "threadgroup", "kernel", "host_name", "max_total_threads_per_threadgroup",
	"function_constant", "fallthrough", "maybe_unused", "nodiscard", "clang::optnone")

// outsideRules reports what the stand-in does not model, as far as the tokens
// show it.
func (s *source) outsideRules() []Finding {
	var f findings
	f.source = s
	s.includeRules(&f)
	s.attributeRules(&f)
	s.castRules(&f)
	s.templateRules(&f)
	return f.list
}

func (s *source) includeRules(f *findings) {
	for _, d := range s.directives {
		if strings.HasPrefix(d.text, "pragma METAL internals") {
			f.outside(d.pos, "#pragma METAL internals")
		}
		m := includeLine.FindStringSubmatch(d.text)
		if m != nil && !headers[m[1]] && !cppHeaders[m[1]] && !cHeaders[m[1]] {
			f.outside(d.pos, "#include <%s>", m[1])
		}
	}
}

func (s *source) attributeRules(f *findings) {
	known := map[int]bool{} // the built-in values of arguments and of variables
	for i := range s.globals {
		if a, ok := s.globals[i].builtin(); ok {
			known[a.pos] = true
		}
	}
	for _, k := range s.kernels {
		for _, p := range k.params {
			for _, a := range p.attrs {
				known[a.pos] = builtins[a.name] != builtin{}
			}
		}
	}
	var positions []int
	for at := range s.attrs {
		positions = append(positions, at)
	}
	slices.Sort(positions)
	for _, at := range positions {
		for _, a := range s.attrs[at] {
			if !plainAttributes[a.name] && !known[a.pos] {
				f.outside(a.pos, "attribute [[%s]] here", a.name)
			}
		}
	}
}

// castRules reports the C cast to a vector, which clang reads otherwise than
// Metal does.
func (s *source) castRules(f *findings) {
	vectors := vectorTypes()
	for i := 1; i+2 < len(s.code); i++ {
		t := s.code
		if !vectors[t[i].text] || !t[i-1].is("(") || !t[i+1].is(")") || i > 1 && t[i-2].is("sizeof") {
			continue
		}
		if next := t[i+2]; next.kind == identToken || next.kind == numberToken || next.is("(") || next.is("-") || next.is("~") {
			f.outside(t[i].pos, "C cast to %s; write %s(x)", t[i].text, t[i].text)
		}
	}
}

// templateRules reports threadgroup variables in template kernels: clang allows
// them in its own kernels only, which cannot be templates.
func (s *source) templateRules(f *findings) {
	for i := range s.kernels {
		k := &s.kernels[i]
		if !k.template {
			continue
		}
		for _, v := range s.threadgroupVars(k) {
			f.outside(s.code[v.first].pos, "threadgroup variable in a template kernel")
		}
	}
}

// threadgroupVar is a declaration such as `threadgroup float tile[8][8];` in the
// body of a kernel, code[first] to the semicolon at code[end].
type threadgroupVar struct {
	first, name, end int
	simple           bool // one name, no initialiser
}

func (s *source) threadgroupVars(k *kernelDecl) []threadgroupVar {
	var vars []threadgroupVar
	for i := k.body[0] + 1; i < k.body[1]; i++ {
		prev := s.code[i-1]
		if !s.code[i].is("threadgroup") || !prev.is("{") && !prev.is(";") && !prev.is("}") {
			continue
		}
		if v, ok := s.threadgroupVarAt(i); ok {
			vars = append(vars, v)
			i = v.end
		}
	}
	return vars
}

// threadgroupVarAt reads the declaration at code[first]; a pointer or reference
// to threadgroup memory is none.
func (s *source) threadgroupVarAt(first int) (threadgroupVar, bool) {
	v := threadgroupVar{first: first, simple: true}
	for i := first + 1; i < len(s.code); i++ {
		t := s.code[i]
		switch {
		case t.is(";"):
			v.end = i
			return v, v.name > first+1 // behind a type
		case t.is("*") || t.is("&"):
			if v.name == 0 {
				return v, false
			}
		case t.is("[") || t.is("(") || t.is("{"):
			if v.name == 0 {
				v.name = i - 1
			}
			i = s.closing(i)
		case t.is("<"):
			if end := closingAngle(s.code, i); end > 0 {
				i = end
			}
		case t.is("=") || t.is(","):
			v.simple = false
			if v.name == 0 {
				v.name = i - 1
			}
		}
		if v.name == 0 && i+1 < len(s.code) && s.code[i+1].is(";") {
			v.name = i
		}
	}
	return v, false
}
