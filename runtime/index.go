package runtime

import "github.com/kernelgen/kgen/runtime/internal/backend"

// maxIndex is the largest number of elements of a tensor, and of positions along a
// dimension of a grid, for which kernels compute with 32 bits: the threads of a group
// look up to a run beyond the end.
const maxIndex = 1<<31 - 1<<20

// index64 before a source makes its kernels compute positions and offsets with 64 bits.
const index64 = "#define KG_INDEX_64\n#line 1\n"

// source returns the source of the kernels of a step: one that computes with 64 bits
// where this launch reaches further than 32 do.
func (p *planner) source(c *backend.Command, s *step, k *Kernel) *string {
	source := p.r.d.gpu.source(s.op)
	if !p.far(c, s, k) {
		return source
	}
	text := index64 + *source
	return &text
}

// far reports whether a launch reaches an element or a position beyond maxIndex.
func (p *planner) far(c *backend.Command, s *step, k *Kernel) bool {
	for i, b := range k.Buffers {
		if c.Bufs[i].Bytes/p.dtype(s, int32(b.Tensor)).Size() > maxIndex {
			return true
		}
	}
	spaces := [][]uint8{k.CPU.Cost}
	for _, d := range k.GPU.Grid {
		spaces = append(spaces, d.Axes)
	}
	for _, axes := range spaces {
		if n, ok := p.extent(s, axes); !ok || n > maxIndex {
			return true
		}
	}
	return false
}

// dtype returns the type of a tensor of a step: an argument, a workspace of the variant,
// or the sums of a split form.
func (p *planner) dtype(s *step, tensor int32) DType {
	if tensor < s.nIn+s.nOut {
		return p.value(s, tensor).dtype
	}
	temps := s.op.Variants[s.variant].Temps
	if at := int(tensor - s.nIn - s.nOut); at < len(temps) {
		return temps[at].Type
	}
	return F32
}
