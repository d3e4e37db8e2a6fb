package runtime

import (
	"math"
	"slices"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// plan is a program made ready for the backend, for all runs of one structure.
type plan struct {
	key   key
	code  backend.Code
	arena int64              // bytes of the memory that values share
	bases []int32            // slot of each memory slot of the program after the first, which is the arena
	reads []int64            // where in the arena each read-back lies
	free  []backend.Instance // not in flight
	ops   []*Op              // keeps their addresses in key from being used again
	fused []fusedCall
	cmds  []backend.Command

	guards []guard // with Device.guards

	evicted bool // the cache has forgotten it

	older, newer *plan // by time of use
}

// place is memory that commands of a program use: that of a slot of the run, or
// something that only the program knows.
type place struct {
	bytes       int64
	first, last int32 // commands that use it
	base        int32 // memory slot of the program; 0 is the arena
	off         int64 // in the arena
	used        bool
	rec         int32 // call of the part that first uses it
	over        int32 // one more than the place whose memory it takes over, 0 for none
	next        int32 // one more than the place that takes its memory over
}

// planner turns the calls [from, end) of a run into commands. Its slices are
// reused.
type planner struct {
	program
	passes    []pass
	needed    []bool // by slot: a later command reads it, or it outlives the part
	kernels   []int32
	live      []bool // by kernel of all steps
	places    []place
	cmds      []backend.Command
	saves     []backend.Command // run before all others
	undo      []backend.Command // run after all others, if there was a fault
	faulty    int32             // number of kernels up to the last that may find a fault
	takeovers []takeover        // that kernels allow, in the order of the commands
	snapshots []snapshot
	parts     int64 // of the split form that is launched
	sums      int32 // place of its workspace
	arena     arena
	err       *Error
}

// snapshot is a range of a slot that was saved before it was updated.
type snapshot struct {
	slot     int32
	off, end int64
}

// outlives reports whether the memory of a slot is not the part's own.
func (r *run) outlives(s *slot) bool { return s.external || s.keep || r.part }

// build plans the part of the run. seen, if not nil, is called with the program as
// it was recorded and as each pass left it.
func (p *planner) build(r *run, seen func(pass string)) (*plan, *Error) {
	p.load(r)
	if seen != nil {
		seen("")
	}
	for _, pass := range p.passes {
		if pass.run == nil {
			continue
		}
		pass.run(&p.program)
		if seen != nil {
			seen(pass.name)
		}
	}
	p.err = nil
	p.cmds, p.places, p.snapshots = nil, p.places[:0], p.snapshots[:0]
	p.saves, p.undo, p.takeovers = p.saves[:0], p.undo[:0], p.takeovers[:0]
	out := &plan{}
	for i := r.from; i < r.end; i++ {
		if op := r.recs[i].op; op != nil {
			out.ops = append(out.ops, op)
		}
	}
	for i := range r.slots {
		s := &r.slots[i]
		pl := place{bytes: s.buf.bytes}
		if r.outlives(s) {
			out.bases = append(out.bases, int32(i))
			pl.base = int32(len(out.bases))
		}
		p.places = append(p.places, pl)
	}
	for i := range p.values[len(r.nodes):] { // of slots that passes added
		p.places = append(p.places, place{bytes: p.values[len(r.nodes)+i].bytes()})
	}
	p.liveness()
	p.emit(out)
	p.frame()
	if p.err != nil {
		return nil, p.err
	}
	for _, pass := range p.passes {
		if pass.place != nil {
			pass.place(p)
		}
	}
	p.assign(out)
	params := len(r.params) - int(r.firstParam())
	code, err := r.d.backend.Build(&backend.Program{Slots: 1 + len(out.bases), Params: params, Commands: p.cmds})
	if err != nil {
		return nil, &Error{Op: "plan", Batch: r.batch, Err: err, Text: err.Error()}
	}
	out.code, out.cmds = code, p.cmds
	return out, nil
}

// liveness marks the kernels whose results somebody reads. A kernel is live if
// it writes memory that outlives the part or that a later live kernel reads.
func (p *planner) liveness() {
	p.needed = grow(p.needed, int(p.slots))
	for i := range p.needed {
		p.needed[i] = p.outlives(int32(i))
	}
	p.kernels = grow(p.kernels, len(p.steps))
	total := int32(0)
	for i := range p.steps {
		p.kernels[i] = total
		total += p.commands(&p.steps[i])
	}
	p.live = grow(p.live, int(total))
	p.faulty = 0
	for i := len(p.steps) - 1; i >= 0; i-- {
		p.mark(&p.steps[i], p.kernels[i])
	}
}

// commands returns how many commands a step may become.
func (p *planner) commands(s *step) int32 {
	if s.kind == recordOp && !p.r.d.reference {
		return int32(len(s.op.Variants[s.variant].Kernel))
	}
	return 1
}

// mark finds the live commands of a step, given what later ones need.
func (p *planner) mark(s *step, at int32) {
	switch {
	case s.kind == recordRead:
		p.live[at] = true
		p.needed[p.slotOf(s, 0)] = true
	case s.kind != recordOp:
		p.live[at] = p.needed[p.slotOf(s, s.nIn)]
		if s.nIn > 0 && p.live[at] {
			p.needed[p.slotOf(s, 0)] = true
		}
	case p.r.d.reference:
		p.markHost(s, at)
	default:
		p.markKernels(s, at)
	}
}

func (p *planner) markHost(s *step, at int32) {
	live := false
	for j := range s.op.Ins {
		if s.op.Ins[j].InOut {
			live = live || p.needed[p.slotOf(s, int32(j))]
		}
	}
	for j := s.nIn; j < s.nIn+s.nOut; j++ {
		live = live || p.needed[p.slotOf(s, j)]
	}
	p.live[at] = live
	if !live {
		return
	}
	for j := range s.nIn {
		p.needed[p.slotOf(s, j)] = true
	}
	if mayFault(&s.op.Variants[s.variant]) {
		p.faulty = max(p.faulty, at+1)
	}
}

func (p *planner) markKernels(s *step, at int32) {
	v := &s.op.Variants[s.variant]
	tensors := s.nIn + s.nOut
	temps := make([]bool, len(v.Temps))
	need := func(b Buffer) *bool {
		if t := int32(b.Tensor); t >= tensors {
			return &temps[t-tensors]
		}
		return &p.needed[p.slotOf(s, int32(b.Tensor))]
	}
	for k := len(v.Kernel) - 1; k >= 0; k-- {
		kernel := &v.Kernel[k]
		live := false
		for _, b := range kernel.Buffers {
			live = live || b.Write && *need(b)
		}
		p.live[at+int32(k)] = live
		if !live {
			continue
		}
		for _, b := range kernel.Buffers {
			if !b.Write || int32(b.Tensor) < s.nIn {
				*need(b) = true
			}
		}
		if kernel.Faults {
			p.faulty = max(p.faulty, at+int32(k)+1)
		}
	}
}

// mayFault reports whether an op may find a value out of bounds. Without kernels
// only the reference knows, and any integer may be one.
func mayFault(v *Variant) bool {
	if len(v.Kernel) == 0 {
		return slices.ContainsFunc(v.Ins, func(t DType) bool { return !t.float() })
	}
	return slices.ContainsFunc(v.Kernel, func(k Kernel) bool { return k.Faults })
}

// emit makes the commands of all live steps.
func (p *planner) emit(out *plan) {
	for i := range p.steps {
		if p.err != nil {
			return
		}
		s, at := &p.steps[i], p.kernels[i]
		switch s.kind {
		case recordRead:
			p.emitRead(s, out)
		case recordFill, recordCopy:
			if p.live[at] {
				p.emitMove(s)
			}
		default:
			p.emitOp(s, at)
		}
		if s.from != nil {
			out.fused = append(out.fused, fusedCall{s.at, s.from})
		}
	}
}

func (p *planner) emitOp(s *step, at int32) {
	v := &s.op.Variants[s.variant]
	if p.r.d.reference {
		if p.live[at] {
			p.save(s, at)
			p.command(p.hostCommand(s, v))
		}
		return
	}
	temps := int32(-1)
	for k := range v.Kernel {
		if !p.live[at+int32(k)] {
			continue
		}
		if temps < 0 {
			p.fillGPU(s, v)
			temps = p.tempPlaces(s, v)
		}
		for _, kernel := range p.launches(s, &v.Kernel[k]) {
			p.emitKernel(s, v, kernel, at+int32(k), temps)
		}
	}
}

// emitKernel makes a launch of a kernel that is number at of all.
func (p *planner) emitKernel(s *step, v *Variant, k *Kernel, at, temps int32) {
	cmd, ok := p.kernelCommand(s, v, k, temps)
	if !ok {
		return
	}
	if k.Guarded {
		p.save(s, at)
	}
	if p.r.d.gpu == nil { // Buffer.InPlace speaks of the C function
		p.allowed(k, cmd.Bufs)
	}
	p.command(cmd)
}

// command appends a command and notes which places it uses.
func (p *planner) command(c backend.Command) {
	at := int32(len(p.cmds))
	for _, b := range c.Bufs {
		pl := &p.places[b.Slot]
		if !pl.used {
			pl.first, pl.used, pl.rec = at, true, c.Op
		}
		pl.last = at
	}
	p.cmds = append(p.cmds, c)
}

// newPlace adds memory that only the program knows.
func (p *planner) newPlace(bytes int64) int32 {
	p.places = append(p.places, place{bytes: bytes})
	return int32(len(p.places) - 1)
}

// buf returns the memory of an argument of a step.
func (p *planner) buf(s *step, i int32) backend.Buf {
	v := p.value(s, i)
	return backend.Buf{Slot: v.slot, Off: v.off, Bytes: v.bytes()}
}

func (p *planner) emitRead(s *step, out *plan) {
	bytes := p.value(s, 0).bytes()
	to := p.newPlace(max(bytes, 1))
	p.command(backend.Command{Kind: backend.Copy, Name: "read", Op: s.at, Bytes: bytes,
		Bufs: []backend.Buf{{Slot: to}, p.buf(s, 0)}})
	out.reads = append(out.reads, int64(to))
}

func (p *planner) emitMove(s *step) {
	v := p.value(s, s.nIn)
	if v.count == 0 {
		return
	}
	c := backend.Command{Kind: backend.Fill, Name: s.name(), Op: s.at, Bytes: v.bytes(), Pattern: s.fill,
		Bufs: []backend.Buf{p.buf(s, s.nIn)}}
	if s.kind == recordCopy {
		c.Kind = backend.Copy
		c.Bufs = append(c.Bufs, p.buf(s, 0))
	}
	p.command(c)
}

// tempPlaces adds the workspace of a variant and returns its first place.
func (p *planner) tempPlaces(s *step, v *Variant) int32 {
	first := int32(len(p.places))
	for _, t := range v.Temps {
		n, ok := p.extent(s, t.Axes)
		if !ok || n > math.MaxInt64/4/t.Type.Size() {
			p.tooLarge(s, "its workspace")
			return first
		}
		p.newPlace(n * t.Type.Size())
	}
	return first
}

// extent returns the product of the extents of some axes, and whether it fits.
func (p *planner) extent(s *step, axes []uint8) (int64, bool) {
	n, ok := int64(1), true
	for _, a := range axes {
		size := p.parts
		if int(a) < len(s.op.Axes) {
			size = p.size(s, a)
		}
		if size == 0 {
			return 0, true
		}
		var fits bool
		n, fits = mul(n, size)
		ok = ok && fits
	}
	return n, ok
}

func (p *planner) tooLarge(s *step, what string) { p.fail(s, what+" is more than an int64 holds") }

// fail notes the first shape that cannot be run.
func (p *planner) fail(s *step, text string) {
	if p.err == nil {
		p.err = &Error{Op: s.op.Name, Batch: p.r.batch, Site: s.where(), Err: ErrShape, Text: text}
	}
}

// save keeps what the command that follows overwrites in memory from before the
// program, if that command or one after it may find a fault, and restores it
// then: a program that fails changes nothing.
func (p *planner) save(s *step, kernel int32) {
	if kernel >= p.faulty {
		return
	}
	for j := range s.op.Ins {
		if !s.op.Ins[j].InOut {
			continue
		}
		v := p.value(s, int32(j))
		if !p.r.slots[v.slot].external || v.count == 0 || p.saved(v) {
			continue
		}
		p.snapshots = append(p.snapshots, snapshot{v.slot, v.off, v.off + v.bytes()})
		c := backend.Command{Kind: backend.Copy, Name: "save", Op: s.at, Bytes: v.bytes(),
			Bufs: []backend.Buf{{Slot: p.newPlace(v.bytes())}, {Slot: v.slot, Off: v.off}}}
		p.saves = append(p.saves, c)
		c.Name, c.OnFault = "restore", true
		c.Bufs = []backend.Buf{c.Bufs[1], c.Bufs[0]}
		p.undo = append(p.undo, c)
	}
}

// frame puts the saves before the commands, since a fault in any of them runs
// the restores, which stand last.
func (p *planner) frame() {
	if len(p.saves) == 0 {
		return
	}
	body := p.cmds
	p.cmds = make([]backend.Command, 0, len(p.saves)+len(body)+len(p.undo))
	for i := range p.places {
		p.places[i].used = false
	}
	for _, c := range p.saves {
		p.command(c)
	}
	for _, c := range body {
		p.command(c)
	}
	for i := len(p.undo) - 1; i >= 0; i-- {
		p.command(p.undo[i])
	}
}

// saved reports whether the memory of v was saved before.
func (p *planner) saved(v *progValue) bool {
	for _, s := range p.snapshots {
		if s.slot == v.slot && s.off <= v.off && v.off+v.bytes() <= s.end {
			return true
		}
	}
	return false
}

// assign gives each place its memory and makes the commands refer to it.
func (p *planner) assign(out *plan) {
	for _, pl := range out.reads { // the host takes them when the program is complete
		p.places[pl].last = math.MaxInt32
	}
	out.arena = p.arena.layout(p.places)
	if p.r.d.guards {
		out.arena = p.spread(out)
	}
	for i := range p.cmds {
		for j := range p.cmds[i].Bufs {
			b := &p.cmds[i].Bufs[j]
			pl := &p.places[b.Slot]
			b.Slot = pl.base
			if pl.base == 0 {
				b.Off += pl.off
			}
		}
	}
	for i, pl := range out.reads {
		out.reads[i] = p.places[pl].off
	}
}

// fusedCall is a call that a pass put in the place of others, for messages.
type fusedCall struct {
	at   int32   // the call that it stands for
	from []argOf // where each of its inputs was an argument
}

// argument returns which argument of which recorded call a fault is about, where
// it may be that of a call that a pass made.
func (p *plan) argument(f *backend.Fault) argOf {
	for _, c := range p.fused {
		if c.at == f.Op && int(f.Tensor) < len(c.from) {
			return c.from[f.Tensor]
		}
	}
	return argOf{f.Op, f.Tensor}
}
