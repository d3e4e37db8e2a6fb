//go:build proof

package fuzz

import (
	"context"
	"slices"
	"time"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/emit/msl"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/sim"
)

// simTarget runs the Metal kernels of many specs, as one source, on the
// simulated GPU.
type simTarget struct {
	dir string
	san sim.Sanitizer
}

// launchLimit ends a kernel that never would.
const launchLimit = 60 * time.Second

// try checks the source, runs the trials and compares. Where the source of all
// is not taken, each specimen is tried by itself.
func (t *simTarget) try(st *stats, trials []*trial) []finding {
	trials = slices.DeleteFunc(slices.Clone(trials), func(x *trial) bool { return !x.lowered(bind.MSL) })
	if len(trials) == 0 {
		return nil
	}
	program, wrong := t.build(trials)
	if wrong != "" {
		groups := bySpecimen(trials)
		if len(groups) == 1 {
			return []finding{*trials[0].finding("does not compile", "metal", "%s", wrong)}
		}
		var found []finding
		for _, g := range groups {
			found = append(found, t.try(st, g)...)
		}
		return found
	}
	var found []finding
	for _, x := range trials {
		if f := x.compare(st, "metal under "+t.san.String(), t.run(st, program, x.setup)); f != nil {
			found = append(found, *f)
		}
	}
	return found
}

// build emits, checks and compiles the kernels of the trials.
func (t *simTarget) build(trials []*trial) (program *sim.Program, wrong string) {
	var kernels []*ir.Func
	done := map[*subject]bool{}
	for _, x := range trials {
		if !done[x.subject] {
			done[x.subject] = true
			kernels = append(kernels, x.subject.bound.MSL...)
		}
	}
	text, err := msl.Emit(&msl.File{Spec: "specs/fuzz/drawn.toml", Hash: 1, Kernels: kernels})
	if err != nil {
		return nil, err.Error()
	}
	ctx := context.Background()
	findings, err := sim.Check(ctx, "drawn.metal", text)
	if err != nil {
		return nil, err.Error()
	}
	if len(findings) > 0 {
		return nil, findings[0].String()
	}
	program, err = sim.Build(ctx, t.dir, "drawn.metal", text, t.san)
	if err != nil {
		return nil, err.Error()
	}
	return program, ""
}

// run launches the kernels of a call one after the other.
func (t *simTarget) run(st *stats, program *sim.Program, s *setup) *outcome {
	o := &outcome{tensors: slices.Clone(s.tensors)}
	word := make([]byte, faultBytes)
	for i := range s.variant.Kernels {
		k := &s.variant.Kernels[i]
		st.launches++
		ctx, cancel := context.WithTimeout(context.Background(), launchLimit)
		r, err := program.Run(ctx, s.dispatch(k, o.tensors, word))
		cancel()
		if err == nil {
			err = r.Err()
		}
		if err != nil {
			o.broken = err.Error()
			return o
		}
		for slot, b := range k.Buffers {
			if b.Write {
				o.tensors[b.Tensor] = r.Buffers[slot]
			}
		}
		word = r.Buffers[len(r.Buffers)-1]
	}
	o.fault = readFault(word)
	return o
}

// dispatch is the launch of k as a host makes it.
func (s *setup) dispatch(k *bind.Kernel, tensors [][]byte, word []byte) sim.Job {
	job := sim.Job{Kernel: k.Symbol, Grid: [3]int{1, 1, 1}, Group: [3]int{k.GPU.Threads, 1, 1}}
	for i, d := range k.GPU.Grid {
		job.Grid[i] = int(s.tiles(d))
	}
	for slot, b := range k.Buffers {
		job.Buffers = append(job.Buffers, sim.Buffer{Index: slot, Data: tensors[b.Tensor], Writable: b.Write})
	}
	n := len(k.Buffers)
	if k.BlockBytes > 0 {
		job.Buffers = append(job.Buffers, sim.Buffer{Index: n, Data: s.op.FillBlock(k, s.extent, s.params)})
	}
	job.Buffers = append(job.Buffers, sim.Buffer{Index: n + 1, Data: word, Writable: true})
	return job
}
