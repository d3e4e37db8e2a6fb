package sim

import "strings"

// warnings are about what Apple's compiler takes and what is yet known to go
// wrong, as far as the tokens show it. The stand-in's headers warn of the
// functions that do.
func (s *source) warnings() []Finding {
	var f findings
	f.source = s
	s.infinityWarnings(&f)
	s.switchWarnings(&f)
	for i := range s.kernels {
		s.kernelWarnings(&f, &s.kernels[i])
	}
	return f.list
}

// narrowGroup is a limit of threads for which barriers have been compiled away.
const narrowGroup = "32"

func (s *source) kernelWarnings(f *findings, k *kernelDecl) {
	if a, ok := k.attr("max_total_threads_per_threadgroup"); ok && a.args == narrowGroup && s.together(k) {
		f.warn(a.pos, "max_total_threads_per_threadgroup(32) makes barriers and 8 by 8 matrices wrong; 33 or more do not")
	}
	for i := range k.params {
		p := &k.params[i]
		if p.space == threadgroupSpace && p.ref {
			f.warn(p.pos, "barriers have been seen to fail for threadgroup memory that is a reference argument: declare it in the kernel's body")
		}
	}
	for _, v := range s.threadgroupVars(k) {
		for i := v.first + 1; i < v.name; i++ {
			if s.code[i].is("bool") {
				f.warn(s.code[v.first].pos, "threadgroup memory of bool is misread on some GPUs: store a uint")
			}
		}
	}
}

// together says whether the threads of a kernel work together in its body.
func (s *source) together(k *kernelDecl) bool {
	for _, t := range s.code[k.body[0]:k.body[1]] {
		if t.is("threadgroup_barrier") || t.is("simdgroup_barrier") || strings.HasPrefix(t.text, "simdgroup_") {
			return true
		}
	}
	return false
}

// switchWarnings are about returns inside of a switch.
func (s *source) switchWarnings(f *findings) {
	end := 0
	for i := 0; i+1 < len(s.code); i++ {
		t := s.code[i]
		switch {
		case t.is("switch") && s.code[i+1].is("("):
			if open := s.closing(i+1) + 1; open < len(s.code) && s.code[open].is("{") {
				end = max(end, s.closing(open))
			}
		case t.is("return") && i < end:
			f.warn(t.pos, "a return inside a switch has crashed Apple's compiler: leave the switch first")
		}
	}
}
