package sim

import (
	"fmt"
	"strings"
)

type mode uint8

const (
	checkMode mode = iota
	runMode
)

// rewrite makes C++ for clang of a source: attributes go, vector constructors
// and literals take a form that clang reads as Metal does. Lines keep their
// numbers.
func (s *source) rewrite(m mode) edits {
	var e edits
	s.rewriteAttributes(&e, m)
	vectors := vectorTypes()
	for i, t := range s.code {
		switch {
		case t.kind == numberToken:
			if text := literal(t.text, m); text != t.text {
				e.replace(t.pos, t.end, text)
			}
		case t.kind == identToken && vectors[t.text] && i+1 < len(s.code) && s.code[i+1].is("("):
			e.replace(t.pos, t.end, "msl_make<"+t.text+">")
		case t.is("vec") && i+1 < len(s.code) && s.code[i+1].is("<"):
			s.rewriteVec(&e, i)
		case t.is("static_cast"):
			s.rewriteCast(&e, i, vectors)
		}
	}
	if m == runMode {
		s.rewriteThreadgroup(&e)
		s.rewriteUnroll(&e)
		return e
	}
	s.rewriteNames(&e)
	s.rewriteSizes(&e)
	s.rewriteIncludes(&e)
	return e
}

// rewriteIncludes blanks what the stand-in does not have, since clang stops there.
func (s *source) rewriteIncludes(e *edits) {
	for _, d := range s.directives {
		if m := includeLine.FindStringSubmatch(d.text); m != nil && !headers[m[1]] {
			e.blank(s.text, d.pos, d.pos+lineLength(s.text[d.pos:]))
		}
	}
}

// rewriteNames tells kernels apart that have one name in several namespaces: clang's
// kernels are C functions.
func (s *source) rewriteNames(e *edits) {
	seen := map[string]bool{}
	for i := range s.kernels {
		k := &s.kernels[i]
		if seen[k.base()] && !k.template {
			e.replace(k.pos, k.pos, fmt.Sprintf("msl_kernel_%d_", i))
		}
		seen[k.base()] = seen[k.base()] || !k.template
	}
}

// rewriteAttributes blanks every list; one that makes a kernel leaves the word.
func (s *source) rewriteAttributes(e *edits, m mode) {
	kernels := map[int]bool{}
	for _, k := range s.kernels {
		kernels[k.kernelPos] = !k.template
	}
	for _, span := range s.spans {
		isKernel := false
		for pos, plain := range kernels {
			isKernel = isKernel || plain && span[0] < pos && pos < span[1]
		}
		if isKernel {
			e.replace(span[0], span[0]+len("kernel"), "kernel")
			e.blank(s.text, span[0]+len("kernel"), span[1])
			continue
		}
		if s.hostGiven(e, span) {
			e.replace(span[0], span[0]+2, "={}")
			e.blank(s.text, span[0]+2, span[1])
			continue
		}
		e.blank(s.text, span[0], span[1])
	}
	for i, t := range s.code {
		if t.is("coherent") && i+1 < len(s.code) {
			e.blank(s.text, t.pos, t.end)
			if s.code[i+1].is("(") && i+3 < len(s.code) {
				e.blank(s.text, s.code[i+1].pos, s.code[i+3].end)
			}
		}
	}
	for _, t := range s.code {
		if t.is("kernel") && t.kind == identToken && !t.macro && !kernels[t.pos] {
			e.blank(s.text, t.pos, t.end)
		}
	}
}

// hostGiven says whether an attribute list declares a variable whose value comes
// from outside: a function constant, a binding or a built-in value. Clang wants an
// initialiser there, and constant memory, in which it puts a built-in value.
func (s *source) hostGiven(e *edits, span [2]int) bool {
	for i := range s.globals {
		g := &s.globals[i]
		if g.span != span {
			continue
		}
		if _, ok := g.builtin(); ok {
			e.replace(s.code[g.first].pos, s.code[g.first].pos, "constant ")
			return true
		}
		_, constant := g.attr("function_constant")
		_, binding := g.attr("buffer")
		return constant || binding
	}
	return false
}

// rewriteVec turns the constructor vec<T, N>(...) into msl_make<vec<T, N>>(...).
func (s *source) rewriteVec(e *edits, i int) {
	end := closingAngle(s.code, i+1)
	if end+1 >= len(s.code) || !s.code[end+1].is("(") {
		return
	}
	e.replace(s.code[i].pos, s.code[i].end, "msl_make<vec")
	e.replace(s.code[end].end, s.code[end].end, ">")
}

// rewriteCast turns static_cast<float4>(x) into msl_make<float4>(x).
func (s *source) rewriteCast(e *edits, i int, vectors map[string]bool) {
	end := closingAngle(s.code, i+1)
	typ := i + 2
	if end > typ+2 && s.code[typ].is("metal") {
		typ += 2
	}
	if end <= typ || !vectors[s.code[typ].text] && !s.code[typ].is("vec") {
		return
	}
	e.replace(s.code[i].pos, s.code[i].end, "msl_make")
}

// closingAngle is the index of the > that closes t[open], or -1 where it turns
// out to be a comparison.
func closingAngle(t []token, open int) int {
	depth := 0
	for i := open; i < len(t); i++ {
		switch t[i].text {
		case "<":
			depth++
		case ">":
			depth--
			if depth == 0 {
				return i
			}
		case ";", "{":
			return -1
		}
	}
	return -1
}

// literal gives a number its C++ spelling: floating literals are float unless
// they say otherwise, half and bfloat have suffixes of their own.
func literal(text string, m mode) string {
	lower := strings.ToLower(text)
	hex := strings.HasPrefix(lower, "0x")
	if hex && !strings.Contains(lower, "p") {
		return text
	}
	if !hex && !strings.ContainsAny(lower, ".e") && !strings.HasSuffix(lower, "f") && !strings.HasSuffix(lower, "h") {
		return text
	}
	switch {
	case strings.HasSuffix(lower, "bf") && !hex:
		return "bfloat(" + floatLiteral(text[:len(text)-2]) + ")"
	case strings.HasSuffix(lower, "h"):
		if m == checkMode {
			return text
		}
		return "half(" + floatLiteral(text[:len(text)-1]) + ")"
	case strings.HasSuffix(lower, "f"), strings.HasSuffix(lower, "l"):
		return text
	}
	return text + "f"
}

// floatLiteral makes a float of digits that may lack a point.
func floatLiteral(digits string) string {
	if !strings.ContainsAny(digits, ".eEpP") {
		digits += ".0"
	}
	return digits + "f"
}

// rewriteUnroll blanks `#pragma unroll`: on the host it changes nothing but how long
// the compiler takes.
func (s *source) rewriteUnroll(e *edits) {
	for _, d := range s.directives {
		if d.text == "pragma unroll" {
			e.blank(s.text, d.pos, d.pos+len("#"+d.text))
		}
	}
}

// rewriteThreadgroup makes each threadgroup variable a reference to memory that
// the runtime holds for the group.
func (s *source) rewriteThreadgroup(e *edits) {
	for i := range s.kernels {
		number := maxSlots // the numbers below are those of arguments
		for _, v := range s.threadgroupVars(&s.kernels[i]) {
			if !v.simple {
				continue // refused by runRules
			}
			s.rewriteVar(e, v, number)
			number++
		}
	}
}

func (s *source) rewriteVar(e *edits, v threadgroupVar, number int) {
	first, name, end := s.code[v.first], s.code[v.name], s.code[v.end]
	typ := strings.Join(strings.Fields(string(s.text[first.end:name.pos])), " ")
	dims := strings.Join(strings.Fields(string(s.text[name.end:end.pos])), " ")
	lines := strings.Count(string(s.text[first.pos:end.pos]), "\n")
	e.replace(first.pos, end.pos, fmt.Sprintf("auto &%s = msl_threadgroup<%s %s>(%d)%s", name.text, typ, dims, number, strings.Repeat("\n", lines)))
}

// runRules reports what the runner does not take though the check does.
func (s *source) runRules() []Finding {
	var f findings
	f.source = s
	for i := range s.globals {
		g := &s.globals[i]
		if _, ok := g.attr("function_constant"); ok {
			f.outside(g.span[0], "function constants have no value in a run")
			continue
		}
		f.outside(g.span[0], "variables at program scope that the host gives have no value in a run")
	}
	for i := range s.kernels {
		for _, v := range s.threadgroupVars(&s.kernels[i]) {
			if !v.simple {
				f.outside(s.code[v.first].pos, "threadgroup variables are declared one by one and without initialiser to be run")
			}
		}
	}
	return f.list
}
