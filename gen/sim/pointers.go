package sim

// elementTypes are the types that have vectors and packed vectors of two to
// four.
var elementTypes = []string{"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "half"}

// vectorTypes are the vectors that the stand-in has.
func vectorTypes() map[string]bool {
	m := map[string]bool{}
	for _, e := range elementTypes {
		for _, n := range []string{"2", "3", "4"} {
			m[e+n] = true
		}
	}
	return m
}

// typeNames are the names that stand for types in a source: Metal's own, and
// what the source declares by struct, typedef, using and template parameters.
// A name that is declared with an address space in it maps to true.
func (s *source) typeNames() map[string]bool {
	m := map[string]bool{}
	for _, e := range append([]string{"bool", "bfloat", "void", "size_t", "ptrdiff_t", "uint8_t", "int8_t", "uint16_t", "int16_t", "uint32_t", "int32_t", "uint64_t", "int64_t", "unsigned", "signed"}, elementTypes...) {
		m[e] = false
	}
	for v := range vectorTypes() {
		m[v] = false
		m["packed_"+v] = false
	}
	for _, a := range []string{"atomic_int", "atomic_uint", "atomic_bool", "atomic_float", "atomic_ulong"} {
		m[a] = false
	}
	for i := 0; i+1 < len(s.code); i++ {
		s.declared(m, i)
	}
	return m
}

// declared adds the type that the word at code[i] declares, if it does.
func (s *source) declared(m map[string]bool, i int) {
	next := s.code[i+1]
	switch t := s.code[i]; {
	case (t.is("struct") || t.is("class") || t.is("union") || t.is("enum") || t.is("typename")) && next.kind == identToken:
		m[next.text] = false
	case t.is("using") && next.kind == identToken && i+2 < len(s.code) && s.code[i+2].is("="):
		m[next.text] = s.namesSpace(i + 3)
	case t.is("typedef"):
		last, spaced := "", false
		for j := i + 1; j < len(s.code) && !s.code[j].is(";"); j++ {
			if s.code[j].is("[") || s.code[j].is("{") {
				j = s.closing(j)
				continue
			}
			spaced = spaced || spaceWords[s.code[j].text]
			if s.code[j].kind == identToken {
				last = s.code[j].text
			}
		}
		m[last] = spaced
	}
}

func (s *source) namesSpace(i int) bool {
	for ; i < len(s.code) && !s.code[i].is(";"); i++ {
		if spaceWords[s.code[i].text] {
			return true
		}
	}
	return false
}

// pointerRules refuses a pointer or reference type that names no address
// space: clang would give it a generic one.
func (s *source) pointerRules(f *findings) {
	types := s.typeNames()
	for i, t := range s.code {
		if !t.is("*") && !t.is("&") && !t.is("&&") {
			continue
		}
		if isType, spaced := s.pointee(i, types); isType && !spaced {
			form := "pointer"
			if !t.is("*") {
				form = "reference"
			}
			f.refuse(t.pos, "%s type must have explicit address space qualifier", form)
		}
	}
}

// pointee reads the words before the * or & at code[i]: whether they are a
// type, and whether an address space is among them.
func (s *source) pointee(i int, types map[string]bool) (isType, spaced bool) {
	named := false // a type name was seen
	j := i - 1
	for ; j >= 0; j-- {
		t := s.code[j]
		switch {
		case spaceWords[t.text]:
			spaced = true
			continue
		case t.is("const") || t.is("volatile") || t.is("coherent") || t.is("constexpr") || t.is("static") || t.is("inline") || t.is("restrict"),
			t.is("struct") || t.is("typename"):
			continue
		case named:
		case t.is("*") && !spaced && j == i-1 || t.is("*") && j < i-1:
			// A pointer to a pointer: the space of the inner one stands
			// between the two.
			inner, _ := s.pointee(j, types)
			return inner, spaced
		case t.is(">"):
			if j = s.templateHead(j); j < 0 || s.code[j].kind != identToken {
				return false, false
			}
			named = true
			continue
		case t.kind == identToken:
			aliasSpaced, known := types[t.text]
			if !known {
				return false, false
			}
			spaced = spaced || aliasSpaced
			named = true
			for j >= 2 && s.code[j-1].is("::") {
				j -= 2
			}
			continue
		}
		break
	}
	if !named {
		return false, false
	}
	return s.startsType(j), spaced
}

// startsType says whether a type may stand after code[j].
func (s *source) startsType(j int) bool {
	if j < 0 {
		return true
	}
	t := s.code[j]
	switch t.text {
	case "(", ",", ";", "{", "}", "<", ">", ":", "[":
		return true
	}
	return t.kind == identToken && (t.is("typedef") || t.is("kernel") || t.is("operator") || t.is("public") || t.is("friend") || t.is("METAL_FUNC"))
}

// templateHead is the index of the name before the < that closes at j.
func (s *source) templateHead(j int) int {
	depth := 0
	for ; j >= 0; j-- {
		switch s.code[j].text {
		case ">":
			depth++
		case "<":
			depth--
			if depth == 0 {
				return j - 1
			}
		case ";", "{", "}", "&&", "||":
			return -1
		}
	}
	return -1
}
