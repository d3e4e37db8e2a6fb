package bind

import (
	"encoding/binary"

	"github.com/kernelgen/kgen/gen/expr"
)

// Product is the product of the extents of some axes.
func Product(extent []int64, axes []uint8) int64 {
	n := int64(1)
	for _, a := range axes {
		n *= extent[a]
	}
	return n
}

// FillBlock returns the parameter block of k for a call that wants every output:
// extent is that of each axis of op, params the bits of each parameter.
func (op *Op) FillBlock(k *Kernel, extent []int64, params []uint64) []byte {
	b := make([]byte, k.BlockBytes)
	for _, f := range k.Block {
		at := b[f.Offset:]
		switch {
		case f.Size != nil:
			binary.LittleEndian.PutUint64(at, uint64(Product(extent, f.Size)))
		case f.Wanted != 0:
			binary.LittleEndian.PutUint32(at, 1)
		case op.Params[f.Param].Type == expr.ParamU64:
			binary.LittleEndian.PutUint64(at, params[f.Param])
		default:
			binary.LittleEndian.PutUint32(at, uint32(params[f.Param]))
		}
	}
	return b
}
