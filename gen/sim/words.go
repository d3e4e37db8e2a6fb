package sim

import (
	"regexp"
	"slices"
	"strings"
)

// keywords are the words of Metal that C++ does not have.
var keywords = set("device", "constant", "thread", "threadgroup", "kernel", "vertex", "fragment", "half", "bfloat")

// reservedTypes are the vectors that Metal names and does not have.
var reservedTypes = regexp.MustCompile(`^(bool|u?char|u?short|u?int|u?long|half|bfloat|float)(8|16)$`)

// macroNames are the words of Metal's headers that the preprocessor replaces.
func macroNames() map[string]bool {
	m := map[string]bool{}
	for name := range metalNames() {
		if name == strings.ToUpper(name) && !strings.HasPrefix(name, "_") {
			m[name] = true
		}
	}
	return m
}

// reservedRules refuses names that Metal keeps to itself where a source
// declares them.
func (s *source) reservedRules(f *findings) {
	macros := macroNames()
	for i, t := range s.code {
		if t.kind != identToken || t.macro {
			continue
		}
		switch {
		case reservedTypes.MatchString(t.text) && s.usedAsType(i):
			f.refuse(t.pos, "%s is a reserved name of Metal's; vectors have two to four components", t.text)
		case !s.declares(i):
		case keywords[t.text]:
			f.refuse(t.pos, "%s is a word of Metal's: choose another name", t.text)
		case macros[t.text]:
			f.refuse(t.pos, "%s is a macro of Metal's: choose another name", t.text)
		case t.text == "assert" && i+1 < len(s.code) && s.code[i+1].is("("):
			f.refuse(t.pos, "assert is a macro of Metal's: choose another name")
		}
	}
}

// declares says whether the word at code[i] is the name of what a declaration
// declares: it stands between the name of a type and what ends a declarator.
func (s *source) declares(i int) bool {
	if i == 0 || i+1 >= len(s.code) {
		return false
	}
	prev, next := s.code[i-1], s.code[i+1]
	if !slices.Contains([]string{"=", ";", ",", ")", "[", "("}, next.text) || next.kind != punctToken {
		return false
	}
	return prev.kind == identToken && !spaceWords[prev.text] && !notTypes[prev.text]
}

// notTypes are words that may stand before an expression or a qualifier.
var notTypes = set("const", "volatile", "coherent", "return", "case", "else", "do", "goto", "sizeof", "alignof", "operator", "namespace",
	"throw", "new", "delete", "in", "and", "or", "not", "constexpr", "static", "inline", "restrict", "noexcept", "override", "final", "mutable", "kernel")

// usedAsType says whether the word at code[i] stands for a type.
func (s *source) usedAsType(i int) bool {
	if i > 0 && (s.code[i-1].is(".") || s.code[i-1].is("->")) {
		return false
	}
	if i > 0 && (s.code[i-1].is("struct") || s.code[i-1].is("class") || s.code[i-1].is("using") || s.code[i-1].is("<")) {
		return true
	}
	return i+1 < len(s.code) && (s.code[i+1].kind == identToken || s.code[i+1].is("*") && i+2 < len(s.code) && s.code[i+2].kind == identToken && (i == 0 || !s.code[i-1].is("=")))
}

// cppHeaders and cHeaders are includes that Metal's compiler does not find.
var (
	cppHeaders = set("algorithm", "array", "atomic", "bit", "bitset", "cassert", "cctype", "cerrno", "cfloat", "chrono", "climits", "cmath", "complex",
		"concepts", "cstddef", "cstdint", "cstdio", "cstdlib", "cstring", "ctime", "deque", "exception", "functional", "initializer_list", "iomanip",
		"ios", "iostream", "istream", "iterator", "limits", "list", "map", "memory", "mutex", "new", "numbers", "numeric", "optional", "ostream", "queue",
		"random", "ranges", "ratio", "regex", "set", "span", "sstream", "stack", "stdexcept", "string", "string_view", "thread", "tuple", "type_traits",
		"typeinfo", "unordered_map", "unordered_set", "utility", "valarray", "variant", "vector")
	cHeaders = set("ctype.h", "errno.h", "math.h", "stdio.h", "stdlib.h", "string.h", "time.h")
)

var includeLine = regexp.MustCompile(`^include\s*[<"]([^>"]*)[>"]`)

// headerRules refuses the headers of the C and C++ libraries.
func (s *source) headerRules(f *findings) {
	for _, d := range s.directives {
		m := includeLine.FindStringSubmatch(d.text)
		switch {
		case m == nil:
		case cppHeaders[m[1]]:
			f.refuse(d.pos, "#include <%s>: the C++ standard library is not available in Metal", m[1])
		case cHeaders[m[1]]:
			f.refuse(d.pos, "#include <%s>: the C standard library is not available in Metal", m[1])
		}
	}
}

// logFunctions are the methods of a log; the format of each is its first argument.
var logFunctions = set("log", "log_debug", "log_info", "log_error", "log_fault")

// formatRules refuses what a log does not print.
func (s *source) formatRules(f *findings) {
	for i := 1; i+2 < len(s.code); i++ {
		t := s.code
		if !logFunctions[t[i].text] || !t[i-1].is(".") && !t[i-1].is("->") || !t[i+1].is("(") || t[i+2].kind != stringToken {
			continue
		}
		format := strings.ReplaceAll(t[i+2].text, "%%", "")
		for _, bad := range []string{"%s", "%n"} {
			if strings.Contains(format, bad) {
				f.refuse(t[i+2].pos, "%s is no conversion of Metal's log", bad)
			}
		}
	}
}
