//go:build linux && cgo

package cuda

/*
#include "device.h"
*/
import "C"

import "github.com/kernelgen/kgen/runtime/internal/backend"

// productKey is what a product of cuBLASLt depends on.
type productKey struct {
	typ            backend.Float
	batch, m, n, k int64
	transA, transB bool
	epilogue       C.int32_t
	compute        C.int32_t
}

// bytesOf is the size of an element.
var bytesOf = [...]int64{backend.F32: 4, backend.F16: 2, backend.BF16: 2}

// productsOf returns for each command what cuBLASLt does in its place, nil for those
// that it does not do. The library is opened when there is the first one that it may do.
// The caller holds d.mu.
func (d *Device) productsOf(cmds []backend.Command) []*C.kgc_product {
	list := make([]*C.kgc_product, len(cmds))
	for i := range cmds {
		if cmds[i].Product == nil || !d.openProducts() {
			continue
		}
		key, ok := keyOf(&cmds[i])
		if !ok {
			continue
		}
		p, known := d.products[key]
		if !known {
			p = d.newProduct(key)
			d.products[key] = p
		}
		list[i] = p
	}
	return list
}

// openProducts opens cuBLASLt once, and reports whether it is there.
func (d *Device) openProducts() bool {
	if d.products == nil {
		d.products = map[productKey]*C.kgc_product{}
		d.openAny(multipliers(), func(path *C.char) C.int32_t { return C.kgc_load_lt(d.c, path) })
	}
	return d.c.products != nil
}

// keyOf returns what the product of a command depends on, false if its memory does not
// lie as the library wants it: with rows of other lengths than whole accesses it takes
// slow ways, and rounds a sum of 16 bits before it adds the bias.
func keyOf(cmd *backend.Command) (productKey, bool) {
	p := cmd.Product
	k := productKey{typ: p.Type, batch: p.Batch, m: p.M, n: p.N, k: p.K, transA: p.TransA, transB: p.TransB, compute: C.CUBLAS_COMPUTE_32F}
	if p.TF32 {
		k.compute = C.CUBLAS_COMPUTE_32F_FAST_TF32
	}
	at := []int{p.A, p.B, p.C}
	if p.Bias >= 0 {
		k.epilogue |= C.CUBLASLT_EPILOGUE_BIAS
		at = append(at, p.Bias)
	}
	if p.GELU {
		k.epilogue |= C.CUBLASLT_EPILOGUE_GELU
	}
	if k.epilogue == 0 {
		k.epilogue = C.CUBLASLT_EPILOGUE_DEFAULT
	}
	for _, i := range at {
		if cmd.Bufs[i].Off%C.KGC_ALIGNMENT != 0 { // slots are aligned to more
			return k, false
		}
	}
	whole := int64(C.KGC_ALIGNMENT) / bytesOf[p.Type]
	left, right := p.K, p.N
	if p.TransA {
		left = p.M
	}
	if p.TransB {
		right = p.K
	}
	if left%whole != 0 || right%whole != 0 || p.N%whole != 0 {
		return k, false
	}
	const most = 1<<31 - 1
	return k, max(p.Batch, p.M, p.N, p.K) <= most
}

// newProduct returns the library's product, nil if it has none.
func (d *Device) newProduct(k productKey) *C.kgc_product {
	types := [...]C.int32_t{backend.F32: C.CUDA_R_32F, backend.F16: C.CUDA_R_16F, backend.BF16: C.CUDA_R_16BF}
	return C.kgc_new_product(d.c, types[k.typ], C.int64_t(k.batch), C.int64_t(k.m), C.int64_t(k.n), C.int64_t(k.k),
		flag(k.transA), flag(k.transB), k.epilogue, k.compute)
}

func flag(on bool) C.int32_t {
	if on {
		return 1
	}
	return 0
}
