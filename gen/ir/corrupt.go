package ir

import "fmt"

// opposites are the operators that Corrupt exchanges.
var opposites = map[Op]Op{
	Add: Sub, Sub: Add, Mul: Add, Div: Mul, Quo: Mod, Mod: Quo,
	Lt: Ge, Ge: Lt, Gt: Le, Le: Gt, Eq: Ne, Ne: Eq,
}

// Corrupt makes f wrong: it exchanges the operator of its n-th Bin, counted from
// 0 among those that have an opposite. It returns what it did, and false if
// there are fewer. Tests use it to see that a wrong kernel is found out.
func Corrupt(f *Func, n int) (string, bool) {
	seen := map[*Bin]bool{}
	did := ""
	WalkExprs(f.Body, func(e Expr) {
		b, ok := e.(*Bin)
		if !ok || seen[b] || did != "" {
			return
		}
		seen[b] = true
		op, ok := opposites[b.Op]
		if !ok {
			return
		}
		if n == 0 {
			before := text(b)
			b.Op = op
			did = fmt.Sprintf("%s became %s", before, text(b))
		}
		n--
	})
	return did, did != ""
}
