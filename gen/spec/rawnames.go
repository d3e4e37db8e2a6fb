package spec

import (
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
)

// Other specs have their names mangled where they are emitted. What the author
// of [raw] writes in three languages is the names themselves, so those that mean
// something there are refused. Words that are reserved in one of C, Metal and
// Go:
var reserved = strings.Fields(`
	alignas alignof and asm atomic auto bfloat bitand bitor bool break case catch char chan class compl complex concept
	const constant constexpr continue co_await co_return co_yield decltype default defer delete device do double else enum
	explicit export extern false fallthrough float for fragment friend func generic go goto half if imaginary import inline
	int interface kernel linux long map mutable namespace new noexcept not nullptr operator or package private protected
	public range register reinterpret_cast requires restrict return select short signed sizeof static struct switch
	template this thread threadgroup throw true try type typedef typeid typename typeof uchar uint ulong union unix unsigned
	ushort using var vec vertex virtual void volatile wchar_t while xor
	vf vi vu vm vd vl vq INFINITY NAN args init main`)

// rawFields are the members of the struct Args, and rawMacros the other words,
// that the sources have from the generator.
var (
	rawFields = []string{"call", "fault", "group", "lane", "simd", "tid"}
	rawMacros = []string{"Args"}
)

// rawName is a name that the sources of a kernel see.
type rawName struct {
	name string
	what string
	pos  diag.Pos
}

// checkRawNames reports names that mean something else in a source, and two
// that are the same there.
func (d *decoder) checkRawNames() {
	seen := map[string]rawName{}
	for _, name := range slices.Concat(rawFields, rawMacros) {
		seen[name] = rawName{name: name, what: "part of every kernel with [raw]"}
	}
	for _, n := range d.rawNames() {
		old, taken := seen[n.name]
		switch {
		case taken && old.pos.IsValid():
			d.list.Add(n.pos, "the %s gives the sources the name %s, which is that of the %s at %s", n.what, n.name, old.what, old.pos)
		case taken:
			d.list.Add(n.pos, "the %s gives the sources the name %s, which is %s", n.what, n.name, old.what)
		case slices.Contains(reserved, n.name):
			d.list.Add(n.pos, "the name %s of the %s is a word of C, Metal or Go, so the sources cannot use it", n.name, n.what)
		case strings.HasPrefix(strings.ToLower(n.name), "kg_") || strings.HasPrefix(n.name, "size_") || strings.Contains(n.name, "__"):
			d.list.Add(n.pos, "the name %s of the %s is reserved for what is generated around the sources", n.name, n.what)
		}
		seen[n.name] = n
	}
}

// rawNames lists the names that the sources see.
func (d *decoder) rawNames() []rawName {
	var list []rawName
	add := func(what string, t Text, name string) { list = append(list, rawName{name, what, t.Pos()}) }
	s := d.spec
	for _, v := range s.Types {
		add("type variable", v.Name, v.Name.Value)
	}
	for _, c := range s.Statics {
		for _, v := range c.Values {
			add("static choice", v, c.Name.Value+"_"+v.Value)
		}
	}
	for _, p := range s.Params {
		add("parameter", p.Name, p.Name.Value)
	}
	for _, x := range s.Tensors {
		add("tensor", x.Name, x.Name.Value)
		if x.Optional {
			add("optional tensor", x.Name, "has_"+x.Name.Value)
		}
		if x.Bounds.IsSet() {
			add("bounded tensor", x.Name, "tensor_"+x.Name.Value)
		}
	}
	for _, l := range s.Raw.Launches {
		add("launch", l.Name, l.Name.Value)
		add("number of threads", l.Name, "threads_"+l.Name.Value)
		for _, a := range l.Shared {
			add("threadgroup array", a.Name, a.Name.Value)
		}
	}
	return list
}
