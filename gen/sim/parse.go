package sim

import (
	"strconv"
	"strings"
)

// attribute is one item of a [[...]] list, such as buffer(0).
type attribute struct {
	name string
	args string
	pos  int
}

// source is a Metal source as far as the tool reads it itself: its tokens
// without attributes, its attributes by the token that they follow, and its
// kernels.
type source struct {
	*lexed
	code    []token
	attrs   map[int][]attribute // by the index in code of the token after them
	spans   [][2]int            // the bytes of each [[...]] list
	kernels []kernelDecl
	globals []global
	structs map[string]bool // that it declares
	origins origins         // of its lines
}

// space is what a pointer or reference points into.
type space string

const (
	deviceSpace      space = "device"
	constantSpace    space = "constant"
	threadgroupSpace space = "threadgroup"
	threadSpace      space = "thread"
)

var spaceWords = set(string(deviceSpace), string(constantSpace), string(threadgroupSpace), string(threadSpace))

// param is one argument of a kernel.
type param struct {
	tokens  []token
	space   space
	pointer bool
	ref     bool
	typ     string // its type without space and const
	name    string
	attrs   []attribute
	pos     int
}

func (p *param) attr(name string) (attribute, bool) { return named(p.attrs, name) }

func (k *kernelDecl) attr(name string) (attribute, bool) { return named(k.attrs, name) }

func named(list []attribute, name string) (attribute, bool) {
	for _, a := range list {
		if a.name == name {
			return a, true
		}
	}
	return attribute{}, false
}

// kernelDecl is the definition of a kernel function.
type kernelDecl struct {
	name       string // qualified by its namespaces
	host       string // the name that the host uses
	params     []param
	attrs      []attribute // before its name
	template   bool
	pos        int
	kernelPos  int    // of the word kernel, in a keyword or an attribute
	body       [2]int // its tokens in code, braces included
	returnsVal bool
	maxThreads string // of a threadgroup, as its attribute says; "" without one
}

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

func parse(text []byte) *source {
	s := &source{lexed: lex(text), attrs: map[int][]attribute{}, structs: map[string]bool{}}
	s.splitAttributes()
	for i := 1; i < len(s.code); i++ {
		if s.code[i-1].is("struct") || s.code[i-1].is("class") || s.code[i-1].is("union") {
			s.structs[s.code[i].text] = true
		}
	}
	s.findKernels()
	return s
}

// splitAttributes moves every [[...]] list out of the token stream.
func (s *source) splitAttributes() {
	for i := 0; i < len(s.tokens); i++ {
		if end := s.attributeEnd(i); end > 0 {
			s.attrs[len(s.code)] = append(s.attrs[len(s.code)], attributeItems(s.tokens[i+2:end-2])...)
			s.spans = append(s.spans, [2]int{s.tokens[i].pos, s.tokens[end-1].end})
			i = end - 1
			continue
		}
		s.code = append(s.code, s.tokens[i])
	}
}

// attributeEnd returns the index after the list that opens at token i, or 0.
func (s *source) attributeEnd(i int) int {
	t := s.tokens
	if i+1 >= len(t) || !t[i].is("[") || !t[i+1].is("[") || t[i+1].pos != t[i].end {
		return 0
	}
	for j, depth := i, 0; j < len(t); j++ {
		switch t[j].text {
		case "[":
			depth++
		case "]":
			depth--
			if depth == 0 {
				return j + 1
			}
		case ";", "{", "}":
			return 0
		}
	}
	return 0
}

func attributeItems(t []token) []attribute {
	var items []attribute
	for len(t) > 0 {
		item := t[:argumentEnd(t)]
		t = t[len(item):]
		if len(t) > 0 {
			t = t[1:]
		}
		if len(item) == 0 || item[0].kind != identToken {
			continue
		}
		a := attribute{name: item[0].text, pos: item[0].pos}
		rest := item[1:]
		if len(rest) >= 2 && rest[0].is("::") {
			a.name += "::" + rest[1].text
			rest = rest[2:]
		}
		if len(rest) >= 2 {
			a.args = join(rest[1 : len(rest)-1])
		}
		items = append(items, a)
	}
	return items
}

// argumentEnd is the length of t up to a comma outside of all brackets.
func argumentEnd(t []token) int {
	depth := 0
	for i, x := range t {
		switch x.text {
		case "(", "[", "{", "<":
			depth++
		case ")", "]", "}", ">":
			depth--
		case ",":
			if depth == 0 {
				return i
			}
		}
	}
	return len(t)
}

func join(t []token) string {
	words := make([]string, len(t))
	for i, x := range t {
		words[i] = x.text
	}
	return strings.Join(words, " ")
}

// closing is the index of the bracket that closes the one at code[open].
func (s *source) closing(open int) int {
	depth := 0
	for i := open; i < len(s.code); i++ {
		switch s.code[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return len(s.code) - 1
}

// findKernels walks the declarations at namespace scope.
func (s *source) findKernels() {
	var names []string // the namespaces around, "" for extern "C" and the like
	start := 0         // of the declaration
	for i := 0; i < len(s.code); i++ {
		switch t := s.code[i]; {
		case t.macro:
			start = i + 1
		case t.is("namespace"):
			for i++; i < len(s.code) && !s.code[i].is("{") && !s.code[i].is(";") && !s.code[i].is("="); i++ {
			}
			if i < len(s.code) && s.code[i].is("{") {
				names = append(names, s.code[i-1].text)
			}
			start = i + 1
		case t.is("}"):
			if len(names) > 0 {
				names = names[:len(names)-1]
			}
			start = i + 1
		case t.is(";"):
			s.addGlobal(start, i)
			start = i + 1
		case t.is("{"):
			end := s.closing(i)
			s.addKernel(start, i, end, names)
			i = end
			start = i + 1
		}
	}
}

// addKernel records code[start:brace], with the body up to end, if it is the
// head of a kernel.
func (s *source) addKernel(start, brace, end int, names []string) {
	at, isKernel := s.kernelWord(start, brace)
	if !isKernel {
		return
	}
	open := start
	for open < brace && !(s.code[open].is("(") && open > start && s.code[open-1].kind == identToken && !s.code[open-1].is("__attribute__")) {
		open++
	}
	if open == brace || s.closing(open) > brace {
		return // no list of parameters before the body: clang says so
	}
	name := s.code[open-1].text
	k := kernelDecl{
		name: strings.Join(append(append([]string{}, names...), name), "::"), pos: s.code[open-1].pos,
		kernelPos: at, body: [2]int{brace, end + 1}, template: s.code[start].is("template"),
	}
	k.returnsVal = open < start+2 || !s.code[open-2].is("void")
	k.host = k.name
	for i := start; i < open; i++ {
		k.attrs = append(k.attrs, s.attrs[i]...)
	}
	if a, ok := k.attr("host_name"); ok {
		k.host = strings.Trim(a.args, `"`)
	}
	if a, ok := k.attr("max_total_threads_per_threadgroup"); ok {
		k.maxThreads = a.args
	}
	k.params = s.parseParams(open+1, s.closing(open))
	s.kernels = append(s.kernels, k)
}

// kernelWord finds the keyword or the attribute that makes a function a kernel.
func (s *source) kernelWord(start, end int) (pos int, found bool) {
	for i := start; i < end && !s.code[i].is("("); i++ {
		for _, a := range s.attrs[i] {
			if a.name == "kernel" {
				return a.pos, true
			}
		}
		if s.code[i].is("kernel") {
			return s.code[i].pos, true
		}
	}
	return 0, false
}

func (s *source) parseParams(from, to int) []param {
	var params []param
	for from < to {
		end := from + argumentEnd(s.code[from:to])
		p := param{tokens: s.code[from:end], pos: s.code[from].pos}
		for i := from + 1; i <= end; i++ {
			p.attrs = append(p.attrs, s.attrs[i]...)
		}
		p.read()
		params = append(params, p)
		from = end + 1
	}
	return params
}

// read takes space, form, type and name out of the tokens of a parameter.
func (p *param) read() {
	var typ []token
	for _, t := range p.tokens {
		switch {
		case spaceWords[t.text]:
			p.space = space(t.text)
		case t.is("*"):
			p.pointer = true
		case t.is("&"):
			p.ref = true
		case t.is("const") || t.is("volatile") || t.is("restrict"):
		case p.pointer || p.ref:
			p.name = t.text
		default:
			typ = append(typ, t)
		}
	}
	if !p.pointer && !p.ref && len(typ) > 1 {
		p.name = typ[len(typ)-1].text
		typ = typ[:len(typ)-1]
	}
	p.typ = strings.ReplaceAll(join(typ), " :: ", "::")
}

// index is the number of a buffer(n) or threadgroup(n) attribute; ok is false
// if it is absent or no plain number.
func (p *param) index(name string) (n int, ok bool) {
	a, found := p.attr(name)
	if !found {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimRight(a.args, "uU"))
	return n, err == nil
}
