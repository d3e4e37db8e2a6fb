package sim

import (
	"fmt"
	"regexp"
	"strings"
)

// Only the compiler knows the sizes of a kernel's memory: the check asks it by static
// assertions, whose texts begin so.
const (
	groupProbe  = "msl-threadgroup: "
	inlineProbe = "msl-inline: "
)

// rewriteSizes adds the assertions: one after each threadgroup variable, for those up
// to there, and one for each block of constants.
func (s *source) rewriteSizes(e *edits) {
	for i := range s.kernels {
		if k := &s.kernels[i]; !k.template {
			s.groupSizes(e, k)
			s.inlineSizes(e, k)
		}
	}
}

func (s *source) groupSizes(e *edits, k *kernelDecl) {
	sum := ""
	for n, v := range s.threadgroupVars(k) {
		if !v.simple || !s.outermost(k, v.first) {
			continue
		}
		size := fmt.Sprintf("msl_group_%d", n)
		sum = strings.TrimPrefix(sum+" + "+size, " + ")
		end := s.code[v.end].end
		e.replace(end, end, fmt.Sprintf(" enum { %s = (sizeof(%s) + 15) / 16 * 16 }; static_assert(%s <= %d, \"%s\");",
			size, s.code[v.name].text, sum, maxThreadgroupBytes, groupProbe))
	}
}

// outermost says whether code[i] lies in no block within a kernel's body.
func (s *source) outermost(k *kernelDecl, i int) bool {
	depth := 0
	for j := k.body[0]; j < i; j++ {
		switch {
		case s.code[j].is("{"):
			depth++
		case s.code[j].is("}"):
			depth--
		}
	}
	return depth == 1
}

func (s *source) inlineSizes(e *edits, k *kernelDecl) {
	at := s.code[k.body[0]].end
	for i := range k.params {
		if p := &k.params[i]; p.ref && p.space == constantSpace && p.name != "" {
			e.replace(at, at, fmt.Sprintf(" static_assert(sizeof(%s) <= %d, \"%s%s\");", p.name, maxInlineBytes, inlineProbe, p.name))
		}
	}
}

var evaluated = regexp.MustCompile(`expression evaluates to '(\d+) <= \d+'`)

// sizeFound makes a finding of an assertion that failed. Without clang's note the size
// stays unknown.
func (s *source) sizeFound(f *Finding, message string) {
	size := ""
	if m := evaluated.FindStringSubmatch(message); m != nil {
		size = m[1]
	}
	if _, name, ok := strings.Cut(f.Text, inlineProbe); ok && size != "" {
		f.Text = fmt.Sprintf("argument %s takes %s bytes: inline bytes hold %d at most, so the host must bind a buffer", name, size, maxInlineBytes)
		f.Warning = true
		f.Line, f.Col = s.placeOfParam(f.Line, f.Col, name)
	}
	if strings.Contains(f.Text, groupProbe) && size != "" {
		f.Text = fmt.Sprintf("threadgroup memory size (%s) exceeds the maximum threadgroup memory allowed (%d)", size, maxThreadgroupBytes)
		f.Line, f.Col = s.placeOfVar(f.Line, f.Col)
	}
}

// placeOfParam is the place of the argument of the kernel whose body begins at a
// line and column.
func (s *source) placeOfParam(line, col int, name string) (int, int) {
	at := s.offset(line, col)
	for _, k := range s.kernels {
		if s.code[k.body[0]].end != at {
			continue
		}
		for _, p := range k.params {
			if p.name == name {
				return s.position(p.pos)
			}
		}
	}
	return line, col
}

// placeOfVar is the place of the variable whose declaration ends at a line and column.
func (s *source) placeOfVar(line, col int) (int, int) {
	at := s.offset(line, col)
	for i := range s.kernels {
		for _, v := range s.threadgroupVars(&s.kernels[i]) {
			if s.code[v.end].end == at {
				return s.position(s.code[v.name].pos)
			}
		}
	}
	return line, col
}
