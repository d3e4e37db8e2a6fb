package expr

import (
	"strconv"
	"strings"
)

// rawTensors writes the tensors of a kernel written by hand.
func (w *specWriter) rawTensors() {
	for _, t := range w.p.Ins {
		if t.Role == InOut {
			w.table("inout." + t.Name)
			w.tensor(t)
		} else {
			w.input(t)
		}
	}
	for _, t := range w.p.Outs {
		w.table("out." + t.Name)
		w.tensor(t)
	}
	for _, t := range w.p.Raw.Temps {
		w.table("temp." + t.Name)
		w.tensor(t)
	}
}

// raw writes the launches.
func (w *specWriter) raw() {
	for _, l := range w.p.Raw.Launches {
		w.table("raw." + l.Name)
		w.list("items", l.Items)
		if len(l.Cost) > 0 {
			w.text("cost", axisNames(l.Cost))
		}
		w.printf("cost_ps = %d\n", l.CostPS)
		if l.Scratch > 0 {
			w.printf("scratch = %d\n", l.Scratch)
		}
		if len(l.Groups) == 0 {
			continue
		}
		w.list("groups", l.Groups)
		w.printf("threads = %d\n", l.Threads)
		var arrays []string
		for _, a := range l.Shared {
			arrays = append(arrays, a.Name+" = "+quoteTOML(a.String()))
		}
		if len(arrays) > 0 {
			w.printf("shared = { %s }\n", strings.Join(arrays, ", "))
		}
	}
}

func (w *specWriter) list(key string, tiles []Tile) {
	var texts []string
	for _, t := range tiles {
		texts = append(texts, quoteTOML(t.String()))
	}
	w.printf("%s = [%s]\n", key, strings.Join(texts, ", "))
}

// String returns a tile as a spec writes it: "P D/64".
func (t Tile) String() string {
	text := ""
	if len(t.Axes) > 0 {
		text = axisNames(t.Axes)
	}
	if t.Size > 1 {
		text += "/" + strconv.FormatInt(t.Size, 10)
	}
	return text
}

// String returns an array as a spec writes it: "f32 16".
func (a SharedArray) String() string {
	names := map[Kind]string{Float: "f32", Int: "i32", Uint: "u32"}
	return names[a.Kind] + " " + strconv.FormatInt(a.Len, 10)
}
