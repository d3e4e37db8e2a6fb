package bind

import (
	"slices"

	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower/simt"
)

// Share lets equal kernels of the given ops, which are those of one spec, be one
// function under the symbol of the first: a gradient of products multiplies as
// the op does, its other kernels are often the same for all storage types, and so
// are the parts of a list of any length.
func Share(ops []*Result) {
	first := map[string]string{}
	for _, r := range ops {
		if len(r.Raw) > 0 || len(r.Unlowered) > 0 {
			continue // without both forms there is nothing to compare
		}
		for k := range r.Kernels {
			r.share(first, k)
		}
	}
}

// share gives k the symbol of the first kernel whose functions equal its own, which it
// drops when there is one. The launches of a split form are kernels of their own here:
// what a part adds up is the same whatever follows the product.
func (r *Result) share(first map[string]string, k *Kernel) {
	own := k.forms()
	msl := find(r.MSL, own[0])
	key := ""
	if c := find(r.C, k.Symbol); c >= 0 {
		key = ir.Key(r.C[c])
	}
	for _, f := range r.MSL[msl : msl+len(own)] { // forms stand one behind the other
		key += ir.Key(f)
	}
	if same, ok := first[key]; ok {
		r.C = slices.DeleteFunc(r.C, func(f *ir.Func) bool { return f.Symbol == k.Symbol })
		r.MSL = slices.Delete(r.MSL, msl, msl+len(own))
		k.Symbol = same
		if k.Wide != nil {
			k.Wide.Symbol = same + simt.WideSuffix
		}
	} else {
		first[key] = k.Symbol
	}
	if k.Split != nil {
		r.share(first, &k.Split.Parts)
		r.share(first, &k.Split.Join)
	}
}

// ShareC names the C functions of the given ops, which are those of the specs
// that are compiled together, and lets equal ones be one function, that of the
// first: most of the time to build a module goes into them, and the gradient of
// a fused product is made of plain ones.
func ShareC(ops []*Result) {
	first := map[string]string{} // by what it computes
	named := map[string]string{} // by the symbol of its kernel
	for _, r := range ops {
		if r.Unlowered[C] != nil {
			continue
		}
		for k := range r.Kernels {
			if i := find(r.C, k.Symbol); i >= 0 {
				named[k.Symbol] = r.shareC(first, i)
			}
			k.C = named[k.Symbol]
		}
	}
}

// shareC returns the symbol of the first function that equals the i-th of r,
// which it drops when it is another one.
func (r *Result) shareC(first map[string]string, i int) string {
	f := r.C[i]
	if len(r.Raw) > 0 {
		return f.Symbol // its text is not known here
	}
	key := ir.Key(f)
	if same, ok := first[key]; ok && same != f.Symbol {
		r.C = slices.Delete(r.C, i, i+1)
		return same
	}
	first[key] = f.Symbol
	return f.Symbol
}

// Kernels yields the kernels of all variants.
func (r *Result) Kernels(yield func(*Kernel) bool) {
	for v := range r.Op.Variants {
		ks := r.Op.Variants[v].Kernels
		for i := range ks {
			if !yield(&ks[i]) {
				return
			}
		}
	}
}

func find(fs []*ir.Func, symbol string) int {
	return slices.IndexFunc(fs, func(f *ir.Func) bool { return f.Symbol == symbol })
}
