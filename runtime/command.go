package runtime

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// minTask is the least work, in thousandths of a nanosecond, that is worth
// handing to another worker.
const minTask = 8_000_000

// kernelCommand makes the launch of a kernel; false if it has no work items.
func (p *planner) kernelCommand(s *step, v *Variant, k *Kernel, temps int32) (backend.Command, bool) {
	c := backend.Command{Kind: backend.Kernel, Name: k.Symbol, Op: s.at, Guarded: k.Guarded, Faults: k.Faults}
	launch := p.launchC
	if p.r.d.gpu != nil {
		launch = p.launchGPU
	}
	for _, b := range k.Buffers {
		switch t := int32(b.Tensor); {
		case t == s.nIn+s.nOut+int32(len(v.Temps)):
			c.Bufs = append(c.Bufs, backend.Buf{Slot: p.sums, Bytes: p.places[p.sums].bytes})
		case t >= s.nIn+s.nOut:
			slot := temps + t - s.nIn - s.nOut
			c.Bufs = append(c.Bufs, backend.Buf{Slot: slot, Bytes: p.places[slot].bytes})
		case !p.wanted(s, b.Tensor):
			c.Bufs = append(c.Bufs, backend.Buf{Slot: p.newPlace(1), Bytes: 1}) // an address, which the kernel does not use
		default:
			c.Bufs = append(c.Bufs, p.buf(s, t))
		}
		c.Bufs[len(c.Bufs)-1].Write = b.Write
	}
	if !launch(&c, s, k) {
		return backend.Command{}, false
	}
	p.block(&c, s, k)
	if p.r.d.libraries {
		c.Product = p.product(s, k)
	}
	return c, true
}

// launchC says how a C function runs; false if it has no work items.
func (p *planner) launchC(c *backend.Command, s *step, k *Kernel) bool {
	items, ok := p.items(s, k)
	if !ok {
		p.tooLarge(s, "the grid of "+k.Symbol)
	}
	c.Func, c.Items, c.Chunk, c.Scratch = k.C, items, p.chunk(s, k), k.CPU.Scratch
	return ok && items > 0
}

// gpu is what the planner knows of a kind of GPUs.
type gpu struct {
	name      string
	source    func(*Op) *string
	maxGroups [3]int64 // of a grid, in each dimension
	cores     int64    // multiprocessors of a large one, each of which works on one large tile at a time
}

var cudaGPU = gpu{
	name: "CUDA", source: func(op *Op) *string { return op.CUDA }, cores: 128,
	maxGroups: [3]int64{math.MaxInt32, math.MaxUint16, math.MaxUint16},
}

// launchGPU says how a kernel runs on a GPU; false if its grid has no threadgroups.
func (p *planner) launchGPU(c *backend.Command, s *step, k *Kernel) bool {
	form := &k.GPU
	grid, ok := p.gridGPU(s, form)
	if w := k.Wide; w != nil && p.wide(c, s, w) {
		c.Name = w.Symbol
	}
	if small := form.Small; ok && small != nil {
		if g, fits := p.gridGPU(s, small); fits && p.r.d.gpu.smallIsSooner(blocks(grid), blocks(g)) {
			form, grid, c.Name = small, g, k.Symbol+"_small"
		}
	}
	if !ok {
		p.tooLarge(s, "the grid of "+k.Symbol)
		return false
	}
	c.Source, c.Grid, c.Threads = p.source(c, s, k), grid, p.threads(s, form)
	if slices.Contains(grid[:], 0) {
		return false
	}
	for i, n := range c.Grid {
		if most := p.r.d.gpu.maxGroups; n > most[i] {
			p.fail(s, fmt.Sprintf("the grid of %s would have %v blocks, %s allows %v: split the tensor", k.Symbol, c.Grid, p.r.d.gpu.name, most))
			return false
		}
	}
	return true
}

// wide reports whether the tensors of a step allow the wide form of its kernel. The
// memory of every slot begins at a multiple of 16 bytes.
func (p *planner) wide(c *backend.Command, s *step, w *WideForm) bool {
	for _, slot := range w.Aligned {
		if c.Bufs[slot].Off%16 != 0 {
			return false
		}
	}
	for _, d := range w.Multiple {
		if n, ok := p.extent(s, d.Axes); !ok || n%d.Tile != 0 {
			return false
		}
	}
	return true
}

// threads returns how many threads a group of a kernel has.
func (p *planner) threads(s *step, g *GPULaunch) int {
	if len(g.Row.Axes) == 0 {
		return g.Threads
	}
	n, _ := p.extent(s, g.Row.Axes)
	return int(min(max(ceilDiv(n, g.Row.Tile*32)*32, 32), int64(g.Threads)))
}

// product returns the matrix product that a kernel is, nil if a library cannot do all
// of it.
func (p *planner) product(s *step, k *Kernel) *backend.Product {
	q := k.Product
	if q == nil {
		return nil
	}
	for _, b := range k.Buffers {
		if int32(b.Tensor) < s.nIn+s.nOut && b.Write && b.Tensor != k.Buffers[q.C].Tensor && p.wanted(s, b.Tensor) {
			return nil
		}
	}
	out := &backend.Product{
		A: int(q.A), B: int(q.B), C: int(q.C), Bias: int(q.Bias) - 1, TransA: q.TransA, TransB: q.TransB, GELU: q.GELU,
		Type: map[DType]backend.Float{F32: backend.F32, F16: backend.F16, BF16: backend.BF16}[q.Type],
	}
	for _, d := range []struct {
		to   *int64
		axes []uint8
	}{{&out.Batch, q.Batch}, {&out.M, q.M}, {&out.N, q.N}, {&out.K, q.K}} {
		n, ok := p.extent(s, d.axes)
		if !ok || n < 1 {
			return nil
		}
		*d.to = n
	}
	out.TF32 = p.r.d.tf32 && out.Type == backend.F32
	return out
}

// gridGPU returns the blocks of a launch in each dimension.
func (p *planner) gridGPU(s *step, g *GPULaunch) ([3]int64, bool) {
	grid := [3]int64{1, 1, 1}
	for i, d := range g.Grid {
		extent, ok := p.extent(s, d.Axes)
		if !ok {
			return grid, false
		}
		grid[i] = ceilDiv(extent, max(d.Tile, 1))
	}
	return grid, true
}

// blocks returns the number of all blocks, or the most that there can be.
func blocks(grid [3]int64) int64 {
	n, ok := mul(grid[0], grid[1])
	if ok {
		n, ok = mul(n, grid[2])
	}
	if !ok {
		return math.MaxInt64 / 4
	}
	return n
}

// smallIsSooner reports whether so many small tiles are done before the large ones: a
// large tile takes the time of three small ones.
func (g *gpu) smallIsSooner(large, small int64) bool {
	return ceilDiv(small, g.cores) < 3*ceilDiv(large, g.cores)
}

// wanted reports whether a tensor of a step needs memory: a lazy output that
// nobody reads does not.
func (p *planner) wanted(s *step, tensor uint8) bool {
	i := int(tensor) - len(s.op.Ins)
	return i < 0 || !s.op.Outs[i].Lazy || p.needed[p.slotOf(s, int32(tensor))]
}

// items returns the number of independent work items of a kernel.
func (p *planner) items(s *step, k *Kernel) (int64, bool) {
	n, ok := int64(1), true
	for _, d := range k.CPU.Grid {
		extent, fits := p.extent(s, d.Axes)
		if extent == 0 && fits {
			return 0, true
		}
		tile := max(d.Tile, 1)
		var fits2 bool
		n, fits2 = mul(n, ceilDiv(extent, tile))
		ok = ok && fits && fits2
	}
	return n, ok
}

// chunk returns the fewest items that are worth a task of their own.
func (p *planner) chunk(s *step, k *Kernel) int64 {
	n, ok := p.extent(s, k.CPU.Cost)
	cost, fits := mul(max(n, 1), max(k.CPU.CostPer, 1))
	if !ok || !fits {
		return 1
	}
	return ceilDiv(minTask, cost)
}

// block lays out the parameter block: extents now, parameters at each run.
func (p *planner) block(c *backend.Command, s *step, k *Kernel) {
	c.Block = make([]byte, k.BlockBytes)
	for _, f := range k.Block {
		switch {
		case f.Wanted != 0:
			if p.wanted(s, f.Wanted) {
				binary.NativeEndian.PutUint32(c.Block[f.Offset:], 1)
			}
			continue
		case f.Size == nil:
			bytes := int32(4)
			if s.op.Params[f.Param].Type == ParamU64 {
				bytes = 8
			}
			c.Patches = append(c.Patches, backend.Patch{Off: int32(f.Offset), Bytes: bytes, Param: p.params[s.param+int32(f.Param)]})
			continue
		}
		n, ok := p.extent(s, f.Size)
		if !ok {
			p.tooLarge(s, "an extent of "+k.Symbol)
		}
		binary.NativeEndian.PutUint64(c.Block[f.Offset:], uint64(n))
	}
}

// hostCommand makes the call of a variant's reference function.
func (p *planner) hostCommand(s *step, v *Variant) backend.Command {
	c := backend.Command{Kind: backend.Host, Name: s.op.Name, Op: s.at}
	n := s.nIn + s.nOut
	ref := &RefCall{
		Size:  slices.Clone(p.sizes[s.size : int(s.size)+len(s.op.Axes)]),
		Param: make([]Scalar, len(s.op.Params)),
		Buf:   make([]unsafe.Pointer, n),
		Len:   make([]int, n),
	}
	for j := range n {
		c.Bufs = append(c.Bufs, p.buf(s, j))
		ref.Len[j] = int(p.value(s, j).count)
	}
	call, from := v.Ref, slices.Clone(p.params[s.param:int(s.param)+len(s.op.Params)])
	c.HostFunc = func(bufs []unsafe.Pointer, param []uint64) backend.Fault {
		copy(ref.Buf, bufs)
		for j := range ref.Param {
			ref.Param[j] = Scalar(param[from[j]])
		}
		ref.Fault = Fault{}
		call(ref)
		f := ref.Fault
		return backend.Fault{Set: f.Set, Tensor: int32(f.Tensor), Pos: f.Pos, Value: f.Value, Bound: f.Bound}
	}
	return c
}
