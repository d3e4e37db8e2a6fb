package sim

import (
	"regexp"
	"strings"
)

// judge tells clang's errors that Metal shares from those that only the
// stand-in has: names that it does not declare, rules that are OpenCL's.
type judge struct {
	source *source
	names  map[string]bool
}

var unresolved = regexp.MustCompile(`(?:undeclared identifier|unknown type name|no (?:member|type|template) named) '(?:metal::)?(?:fast::|precise::)?(\w+)'`)

// openclRules are parts of messages about what Metal may well allow.
var openclRules = []struct{ part, why string }{
	{"OpenCL", "a rule of OpenCL"},
	{"cannot be used as the type of a kernel parameter", "the type of a kernel argument"},
	{"' variable cannot have an initializer", "a threadgroup variable with an initialiser"},
}

// see looks at an error, or at a note of one, and marks the error where the
// stand-in is not the one to judge.
func (j *judge) see(f *Finding, message string) {
	if f.Outside || f.Warning {
		return
	}
	j.source.sizeFound(f, message)
	if m := unresolved.FindStringSubmatch(message); m != nil && j.names[m[1]] {
		f.Outside, f.Text = true, m[1]
		return
	}
	if strings.Contains(message, "(the implicit copy") && strings.Contains(message, "__constant") {
		f.Outside, f.Text = true, "a structure copied out of constant memory"
		return
	}
	if strings.Contains(message, "outermost scope of a kernel function") && j.source.inKernel(f.Line, f.Col) {
		f.Outside, f.Text = true, "a threadgroup variable in an inner block"
		return
	}
	for _, r := range openclRules {
		if strings.Contains(message, r.part) {
			f.Outside, f.Text = true, r.why
			return
		}
	}
}

// inKernel says whether a place lies in the body of a kernel.
func (s *source) inKernel(line, col int) bool {
	if line < 1 || line > len(s.lines) {
		return false
	}
	pos := s.lines[line-1] + col - 1
	for _, k := range s.kernels {
		if s.code[k.body[0]].pos <= pos && pos < s.code[k.body[1]-1].end {
			return true
		}
	}
	return false
}
