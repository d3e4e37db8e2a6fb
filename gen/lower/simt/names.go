package simt

import (
	"fmt"
	"strings"

	"github.com/kernelgen/kgen/gen/ir"
)

// rename gives the variables of f the shortest names that tell them apart where
// they are visible: those in blocks that do not lie in one another may have the
// same. Names of fields stay, and so do those of buffers, arrays and matrices unless two
// are equal.
func rename(f *ir.Func) {
	taken := map[string]bool{}
	ir.WalkExprs(f.Body, func(e ir.Expr) {
		if g, ok := e.(*ir.Get); ok {
			taken[g.F.Name] = true
		}
	})
	for _, b := range f.Buffers {
		b.Name = unique(b.Name, taken)
		taken[b.Name] = true
	}
	for _, a := range f.Arrays {
		a.Name = unique(a.Name, taken)
		taken[a.Name] = true
	}
	for _, m := range f.Blocks {
		m.Name = unique(m.Name, taken)
		taken[m.Name] = true
	}
	renameBlock(f.Body, taken)
}

// renameBlock renames what the block declares; the names are free again after
// it.
func renameBlock(body []ir.Stmt, taken map[string]bool) {
	var mine []string
	declare := func(v *ir.Var) {
		v.Name = shortest(v.Name, taken)
		taken[v.Name] = true
		mine = append(mine, v.Name)
	}
	for _, s := range body {
		switch s := s.(type) {
		case *ir.Decl:
			declare(s.V)
		case *ir.For:
			v := shortest(s.V.Name, taken)
			s.V.Name, taken[v] = v, true
			renameBlock(s.Body, taken)
			delete(taken, v)
			continue
		}
		for _, b := range ir.Blocks(s) {
			renameBlock(*b, taken)
		}
	}
	for _, name := range mine {
		delete(taken, name)
	}
}

// shortest is name without the number at its end, or with the lowest one that
// makes it new.
func shortest(name string, taken map[string]bool) string {
	if i := strings.LastIndexByte(name, '_'); i > 0 && i+1 < len(name) && strings.Trim(name[i+1:], "0123456789") == "" {
		name = name[:i]
	}
	return unique(name, taken)
}

// unique is name, or if that is taken, name with the lowest number that makes it
// new.
func unique(name string, taken map[string]bool) string {
	base := name
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	return name
}
