package runtime

// leastPart and fewestParts bound the parts of a split form's depth: shorter parts, or
// fewer, save less than the second launch and the workspace cost.
const (
	leastPart   = 256
	fewestParts = 4
)

// launches returns the kernels that a kernel is launched as: itself, or those of its
// split form, for which it sets the number of parts and the workspace.
func (p *planner) launches(s *step, k *Kernel) []*Kernel {
	p.parts = p.partsOf(s, k)
	if p.parts == 1 {
		return []*Kernel{k}
	}
	n, ok := p.extent(s, k.Split.Sums)
	if !ok || n > 1<<60 {
		p.tooLarge(s, "the workspace of "+k.Split.Parts.Symbol)
		return nil
	}
	p.sums = p.newPlace(n * F32.Size())
	return []*Kernel{&k.Split.Parts, &k.Split.Join}
}

// partsOf returns into how many parts the depth of a kernel is cut: as many as give each
// processor of the GPU two small tiles, 1 where too few parts would be left. What a
// library may do is not split.
func (p *planner) partsOf(s *step, k *Kernel) int64 {
	if k.Split == nil || p.r.d.gpu == nil || p.r.d.libraries && p.product(s, k) != nil {
		return 1
	}
	grid, ok := p.gridGPU(s, k.GPU.Small)
	depth, fits := p.extent(s, k.Split.Depth)
	tiles := blocks(grid)
	if !ok || !fits || depth > maxIndex || tiles == 0 {
		return 1
	}
	parts := min(2*p.r.d.gpu.cores/tiles, depth/leastPart)
	if parts < fewestParts {
		return 1
	}
	return parts
}
