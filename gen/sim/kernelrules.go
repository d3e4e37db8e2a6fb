package sim

import (
	"strconv"
	"strings"
)

const (
	// maxSlots is the number of buffer and of threadgroup arguments of a kernel.
	maxSlots = 31
	// maxThreads is the number of threads of a threadgroup.
	maxThreads = 1024
	// maxThreadgroupBytes is the size of all threadgroup memory of a kernel.
	maxThreadgroupBytes = 32 << 10
	// maxInlineBytes is what the host can give without a buffer.
	maxInlineBytes = 4 << 10
)

func (s *source) kernelRules(f *findings, k *kernelDecl) {
	if k.returnsVal {
		f.refuse(k.pos, "kernel %s must return void", k.name)
	}
	if a, ok := k.attr("max_total_threads_per_threadgroup"); ok {
		if n, err := strconv.Atoi(strings.TrimRight(a.args, "uU")); err == nil && (n < 1 || n > maxThreads) {
			f.refuse(a.pos, "max_total_threads_per_threadgroup(%d): 1 to %d are possible", n, maxThreads)
		}
	}
	s.slotRules(f, k)
	s.builtinRules(f, k)
	for i := range k.params {
		s.argumentRules(f, k, &k.params[i])
	}
}

// argumentRules checks that an argument is of a kind that the host can give.
func (s *source) argumentRules(f *findings, k *kernelDecl, p *param) {
	elem, _ := scalarOf(p.typ)
	value := !p.pointer && !p.ref && (isElement(elem) || s.structs[p.typ])
	for _, kind := range []string{"buffer", "threadgroup"} {
		a, ok := p.attr(kind)
		switch {
		case !ok:
		case value:
			f.refuse(a.pos, "argument %s has [[%s]] and is no pointer or reference", p.name, kind)
		case p.kind() != "" && p.kind() != kind && p.space != "":
			f.refuse(a.pos, "argument %s has [[%s]] and points to %s memory", p.name, kind, p.space)
		}
	}
	switch {
	case p.space == threadSpace && p.kind() != "" && len(p.attrs) == 0:
		f.refuse(p.pos, "argument %s of kernel %s points to thread memory, which the host does not have", p.name, k.name)
	case value && isElement(elem) && len(p.attrs) == 0 && !k.template:
		f.refuse(p.pos, "argument %s of kernel %s is passed by value and has no attribute", p.name, k.name)
	}
}

// functionRules checks the names of functions, and that no function calls a
// kernel.
func (s *source) functionRules(f *findings) {
	declared := s.declaredFunctions(f)
	s.nameRules(f)
	kernels := map[string]int{}
	for i := range s.kernels {
		kernels[s.kernels[i].base()]++
	}
	for i := 1; i+1 < len(s.code); i++ {
		t := s.code[i]
		// A name that a function has, too, may be the function's.
		if n := kernels[t.text]; n > 0 && n == declared[t.text] && s.code[i+1].is("(") && !s.declares(i) && !s.code[i-1].is(".") {
			f.refuse(t.pos, "kernel %s cannot be called by a function", t.text)
		}
	}
}

// declaredFunctions counts how often a name stands between a type and a parenthesis.
func (s *source) declaredFunctions(f *findings) map[string]int {
	declared := map[string]int{}
	for i := 1; i+1 < len(s.code); i++ {
		t := s.code[i]
		if t.kind != identToken || !s.code[i+1].is("(") || !s.declares(i) {
			continue
		}
		declared[t.text]++
		if t.is("main") && !t.macro {
			f.refuse(t.pos, "no function may be called main")
		}
	}
	return declared
}

// nameRules refuses two kernels of one name.
func (s *source) nameRules(f *findings) {
	names, hosts := map[string]bool{}, map[string]*kernelDecl{}
	for i := range s.kernels {
		k := &s.kernels[i]
		if k.template {
			continue
		}
		switch first := hosts[k.host]; {
		case names[k.name]:
			f.refuse(k.pos, "kernel %s is defined twice: kernels have no overloads", k.name)
		case first != nil:
			f.refuse(k.pos, "the host knows two kernels as %s: %s and %s", k.host, first.name, k.name)
		default:
			hosts[k.host] = k
		}
		names[k.name] = true
	}
}

// base is the name of a kernel without its namespaces.
func (k *kernelDecl) base() string { return k.name[strings.LastIndexByte(k.name, ':')+1:] }

// slotRules checks that a buffer or threadgroup index stands once per kernel.
func (s *source) slotRules(f *findings, k *kernelDecl) {
	slots := k.assignSlots()
	for i := range k.params {
		p := &k.params[i]
		if _, named := p.attr(p.kind()); p.kind() != "" && !named && slots[i] >= maxSlots {
			f.refuse(p.pos, "no %s index is left for argument %s: a kernel has %d", p.kind(), p.name, maxSlots)
		}
	}
	for _, kind := range []string{"buffer", "threadgroup"} {
		seen := map[int]string{}
		for i := range k.params {
			p := &k.params[i]
			n, ok := p.index(kind)
			if !ok {
				continue
			}
			a, _ := p.attr(kind)
			if n >= maxSlots {
				f.refuse(a.pos, "%s index %d of argument %s: the highest is %d", kind, n, p.name, maxSlots-1)
			}
			_, conditional := p.attr("function_constant")
			if first, twice := seen[n]; twice && !conditional {
				f.refuse(a.pos, "%s index %d of argument %s is taken by argument %s", kind, n, p.name, first)
			}
			seen[n] = p.name
		}
	}
}

// assignSlots gives each buffer and threadgroup argument its index: the one
// that it names, or the first free one.
func (k *kernelDecl) assignSlots() []int {
	slots := make([]int, len(k.params))
	for _, kind := range []string{"buffer", "threadgroup"} {
		used := map[int]bool{}
		for i := range k.params {
			if n, ok := k.params[i].index(kind); ok {
				slots[i], used[n] = n, true
			}
		}
		for i := range k.params {
			p := &k.params[i]
			if _, ok := p.index(kind); ok || p.kind() != kind {
				continue
			}
			n := 0
			for used[n] {
				n++
			}
			slots[i], used[n] = n, true
		}
	}
	return slots
}

// kind is "buffer", "threadgroup", or "" for a built-in value.
func (p *param) kind() string {
	switch {
	case !p.pointer && !p.ref:
		return ""
	case p.space == threadgroupSpace:
		return "threadgroup"
	}
	return "buffer"
}
