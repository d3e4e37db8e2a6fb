package simt

import "github.com/kernelgen/kgen/gen/ir"

// prune drops the variables of f that nothing uses, such as the positions along
// axes that no operand has.
func prune(f *ir.Func) {
	for {
		used := map[*ir.Var]bool{}
		ir.WalkExprs(f.Body, func(e ir.Expr) {
			if r, ok := e.(*ir.Ref); ok {
				used[r.V] = true
			}
		})
		if !dropUnused(&f.Body, used) {
			return
		}
	}
}

// dropUnused removes declarations of variables that are not used, and reports
// whether there were any. A Mut variable is assigned by other statements and
// stays.
func dropUnused(body *[]ir.Stmt, used map[*ir.Var]bool) bool {
	dropped := false
	kept := (*body)[:0]
	for _, s := range *body {
		if d, ok := s.(*ir.Decl); ok && !d.V.Mut && !used[d.V] {
			dropped = true
			continue
		}
		for _, b := range ir.Blocks(s) {
			dropped = dropUnused(b, used) || dropped
		}
		kept = append(kept, s)
	}
	*body = kept
	return dropped
}
