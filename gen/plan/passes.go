package plan

import "github.com/kernelgen/kgen/gen/expr"

// Passes groups the stages of k so that each group depends only on groups
// before it.
func (k *Kernel) Passes() [][]*Stage {
	var passes [][]*Stage
	of := map[*expr.Tensor]int{}
	for _, s := range k.Stages {
		p := 0
		for _, t := range expr.Reads(s.Expr) {
			if q, ok := of[t]; ok {
				p = max(p, q+1)
			}
		}
		of[s.Let] = p
		if p == len(passes) {
			passes = append(passes, nil)
		}
		passes[p] = append(passes[p], s)
	}
	return passes
}
