package sim

import "fmt"

// rules are Metal's rules that clang does not know, checked on the tokens. What
// they refuse is wrong for certain.
func (s *source) rules() []Finding {
	var f findings
	f.source = s
	s.headerRules(&f)
	s.wordRules(&f)
	s.reservedRules(&f)
	s.formatRules(&f)
	s.pointerRules(&f)
	s.constantArrayRules(&f)
	s.globalRules(&f)
	s.initialisedRules(&f)
	s.functionRules(&f)
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

func (f *findings) warn(pos int, format string, args ...any) {
	line, col := f.source.position(pos)
	f.list = append(f.list, Finding{Line: line, Col: col, Warning: true, Text: fmt.Sprintf(format, args...)})
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
	"register":     "register is not supported in Metal",
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
		case i+1 < len(s.code):
			s.pairRules(f, i)
		}
	}
}

// pairRules refuses what only two words together are.
func (s *source) pairRules(f *findings, i int) {
	switch t, next := s.code[i], s.code[i+1]; {
	case t.is("long") && next.is("long"):
		f.refuse(t.pos, "'long long' is not supported in Metal; long has 64 bits")
	case t.is("std") && next.is("::"):
		f.refuse(t.pos, "the C++ standard library is not available in Metal")
	case t.is("noexcept") && next.is("(") && i > 0 && !s.code[i-1].is(")") && !s.code[i-1].is("const"):
		f.refuse(t.pos, "the noexcept operator is not supported in Metal")
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
