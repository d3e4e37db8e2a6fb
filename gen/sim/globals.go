package sim

// global is a declaration at namespace scope with attributes before its
// semicolon: a function constant, a built-in value or a binding. It is
// code[first:end].
type global struct {
	first, end int
	attrs      []attribute
	span       [2]int // the bytes of the attribute list
}

// addGlobal records the declaration code[start:end] if it has attributes.
func (s *source) addGlobal(start, end int) {
	if attrs := s.attrs[end]; len(attrs) > 0 && start < end {
		s.globals = append(s.globals, global{start, end, attrs, s.spanOf(attrs[0].pos)})
	}
}

// spanOf is the attribute list that holds a byte.
func (s *source) spanOf(pos int) [2]int {
	for _, span := range s.spans {
		if span[0] < pos && pos < span[1] {
			return span
		}
	}
	return [2]int{pos, pos}
}

func (g *global) attr(name string) (attribute, bool) { return named(g.attrs, name) }

// builtin is the attribute that gives the value of a thread, if g has one.
func (g *global) builtin() (attribute, bool) {
	for _, a := range g.attrs {
		if _, known := builtins[a.name]; known {
			return a, true
		}
	}
	return attribute{}, false
}

// declared reads a global as if it were an argument.
func (s *source) declaredBy(g *global) *param {
	p := &param{tokens: s.code[g.first:g.end], attrs: g.attrs, pos: s.code[g.first].pos}
	p.read()
	return p
}

// globalRules checks what a declaration at namespace scope takes from the
// dispatch or from the host.
func (s *source) globalRules(f *findings) {
	for i := range s.globals {
		g := &s.globals[i]
		p := s.declaredBy(g)
		if a, ok := g.builtin(); ok {
			checkBuiltin(f, p, a)
		}
		if a, ok := g.attr("buffer"); ok {
			s.bindingRule(f, p, a)
		}
		if a, ok := g.attr("function_constant"); ok {
			s.functionConstantRule(f, p, a)
		}
	}
}

func (s *source) bindingRule(f *findings, p *param, a attribute) {
	switch n, ok := p.index("buffer"); {
	case !p.pointer && !p.ref:
		f.refuse(a.pos, "%s has [[buffer]] and is no pointer or reference", p.name)
	case a.args == "":
		f.refuse(a.pos, "the binding %s at program scope needs an index", p.name)
	case ok && n >= maxSlots:
		f.refuse(a.pos, "buffer index %d of %s: the highest is %d", n, p.name, maxSlots-1)
	}
}

// maxFunctionConstant is the highest index of a function constant.
const maxFunctionConstant = 65535

func (s *source) functionConstantRule(f *findings, p *param, a attribute) {
	if n, ok := p.index("function_constant"); ok && n > maxFunctionConstant {
		f.refuse(a.pos, "function constant %d of %s: the highest is %d", n, p.name, maxFunctionConstant)
	}
	if matrixTypes()[p.typ] || p.pointer || p.ref {
		f.refuse(p.pos, "function constant %s is no scalar and no vector", p.name)
	}
}

// initialisedRules refuses a function constant with a value of its own.
func (s *source) initialisedRules(f *findings) {
	for i := 1; i < len(s.code); i++ {
		if !s.code[i].is("=") && !s.code[i].is("{") && !s.code[i].is("(") {
			continue
		}
		for _, a := range s.attrs[i] {
			if a.name == "function_constant" {
				f.refuse(a.pos, "function constant %s has an initialiser", s.code[i-1].text)
			}
		}
	}
}

// matrixTypes are the matrices that the stand-in has.
func matrixTypes() map[string]bool {
	m := map[string]bool{}
	for _, e := range []string{"float", "half"} {
		for _, c := range "234" {
			for _, r := range "234" {
				m[e+string(c)+"x"+string(r)] = true
			}
		}
	}
	return m
}
