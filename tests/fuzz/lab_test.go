//go:build proof

package fuzz

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
)

// specimen is a spec to be tried, on drawn calls or on one that is given.
type specimen struct {
	model *model // nil when there is only the text
	text  string
	seed  uint64
	calls int
	// given and data name the one call, if given is not nil.
	given shapes
	data  uint64
}

// finding is something wrong with a specimen.
type finding struct {
	at     int // number of the specimen
	kind   string
	target string
	text   string
	given  shapes
	data   uint64
}

func (f *finding) String() string {
	return fmt.Sprintf("%s on %s\n\tshapes %v, data %d\n\t%s", f.kind, f.target, f.given, f.data, f.text)
}

// trial is one call of one subject.
type trial struct {
	at      int
	subject *subject
	given   shapes
	data    uint64
	setup   *setup
	want    [][]float64
	allowed [][]span
	bad     *oracle.BoundsError // the call has an id out of bounds
	unread  bool                // it may be that nothing reads that id
}

// lab tries specimens on targets and counts.
type lab struct {
	c     *ccTarget
	sim   *simTarget // nil to leave the simulated GPU out
	stats stats
}

type stats struct {
	specs, rejected, subjects, refused, kernels, launches, elements, narrow int
	reasons                                                                 map[string]int
}

func (s *stats) String() string {
	return fmt.Sprintf("%d specs (%d not well-formed), %d programs (%d not lowered), %d kernels, %d launches, %d elements compared, %.1f%% of them within narrow bounds",
		s.specs, s.rejected, s.subjects, s.refused, s.kernels, s.launches, s.elements, 100*float64(s.narrow)/float64(max(s.elements, 1)))
}

// try runs specimens and returns what is wrong with them.
func (l *lab) try(list []specimen) []finding {
	var found []finding
	var trials []*trial
	for i := range list {
		ts, err := l.prepare(i, &list[i])
		if err != nil {
			found = append(found, finding{at: i, kind: stage(err), target: "compiler", text: err.Error()})
			continue
		}
		for _, t := range ts {
			if f := t.checkOracle(); f != nil {
				found = append(found, *f)
			}
		}
		trials = append(trials, ts...)
	}
	if l.c != nil {
		found = append(found, l.c.try(&l.stats, trials)...)
	}
	if l.sim != nil {
		found = append(found, l.sim.try(&l.stats, trials)...)
	}
	return found
}

// stage names the kind of an error of the compiler.
func stage(err error) string {
	text, _, _ := strings.Cut(err.Error(), ":")
	return "refused or broken: " + text
}

// prepare compiles a specimen and draws its calls. A spec that the front end
// does not accept gives no trials: the author is not held to every rule.
func (l *lab) prepare(at int, s *specimen) ([]*trial, error) {
	if _, err := checked(s.text); err != nil {
		l.stats.rejected++
		return nil, nil
	}
	l.stats.specs++
	subs, err := subjects(s.text, fmt.Sprintf("s%d", at))
	if err != nil {
		return nil, err
	}
	var trials []*trial
	for _, sub := range subs {
		l.stats.subjects++
		for _, err := range sub.bound.Unlowered {
			l.stats.refused++
			if l.stats.reasons == nil {
				l.stats.reasons = map[string]int{}
			}
			l.stats.reasons[err.Error()]++
		}
		l.stats.kernels += len(sub.bound.C) + len(sub.bound.MSL)
		ts, err := s.trials(at, sub)
		if err != nil {
			return nil, err
		}
		trials = append(trials, ts...)
	}
	return trials, nil
}

func (s *specimen) trials(at int, sub *subject) ([]*trial, error) {
	if s.given != nil {
		call, ok := with(sub.forward, s.data, s.given)
		if !ok {
			return nil, nil
		}
		t, err := newTrial(at, sub, call, extents(sub.forward, call), s.data)
		return []*trial{t}, err
	}
	var list []*trial
	for i := range uint64(s.calls) {
		call, given, data, err := drawn(sub.forward, s.seed*64+i)
		if err != nil {
			continue // conditions that the drawn extents never meet
		}
		t, err := newTrial(at, sub, call, given, data)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

func newTrial(at int, sub *subject, forward oracle.Call, given shapes, data uint64) (*trial, error) {
	t := &trial{at: at, subject: sub, given: given, data: data}
	call, err := sub.call(forward, data)
	if err != nil {
		return nil, err
	}
	t.spoil(call, data)
	sizes, err := oracle.Check(sub.program, call)
	if err != nil {
		return nil, err
	}
	t.setup = newSetup(sub.bound.Op, call, sizes)
	res, err := oracle.Run(sub.program, call)
	if errors.As(err, &t.bad) {
		t.unread = mayNotRead(sub.program, sizes, t.bad.Tensor)
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	for _, a := range append(res.Outs, res.InOuts...) {
		t.want = append(t.want, a.Data)
	}
	t.allowed, err = spans(sub.program, call)
	return t, err
}

// spoil puts an id that is out of bounds into one call out of eight.
func (t *trial) spoil(call oracle.Call, data uint64) {
	rng := rand.New(rand.NewPCG(data, 0xBAD))
	if rng.IntN(8) != 0 {
		return
	}
	for i, in := range t.subject.program.Ins {
		if n := len(call.Ins[i].Data); in.Bounds != nil && n > 0 {
			call.Ins[i].Data[rng.IntN(n)] = [...]float64{-1, 1 << 20, -1 << 20}[rng.IntN(3)]
			return
		}
	}
}

// mayNotRead reports whether a program can do without an element of a tensor:
// where an axis is empty, or the reads stand under conditions.
func mayNotRead(p *expr.Program, sizes *oracle.Sizes, name string) bool {
	for _, n := range sizes.Extent {
		if n == 0 {
			return true
		}
	}
	for _, s := range p.Steps {
		if s.Result.Role == expr.Let { // may be one that is read under a condition
			continue
		}
		if readsAlways(s.Expr, name) {
			return false
		}
	}
	return true
}

// readsAlways reports whether e reads a tensor at its own axes whatever the
// conditions in e.
func readsAlways(e expr.Expr, name string) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) bool {
		switch e := e.(type) {
		case *expr.Where:
			found = found || readsAlways(e.C, name)
			return false
		case *expr.Binary:
			if e.Op == expr.LogicAnd || e.Op == expr.LogicOr {
				found = found || readsAlways(e.X, name)
				return false
			}
		case *expr.Read:
			if e.T.Name != name {
				break
			}
			found = found || e.Idx == nil
		}
		return !found
	})
	return found
}

func (t *trial) finding(kind, target, format string, args ...any) *finding {
	return &finding{t.at, kind, target, t.subject.program.Name + ": " + fmt.Sprintf(format, args...), t.given, t.data}
}

// checkOracle compares the oracle with the evaluator of spans.
func (t *trial) checkOracle() *finding {
	if t.bad != nil {
		return nil
	}
	for i, r := range results(t.subject.program) {
		for j, v := range t.want[i] {
			if !t.allowed[i][j].holds(v) {
				return t.finding("oracle differs", "oracle", "%s element %d is %v, the evaluator gives %v", r.Name, j, v, t.allowed[i][j])
			}
		}
	}
	return nil
}

// compare holds what a device left against what may be.
func (t *trial) compare(st *stats, target string, o *outcome) *finding {
	switch {
	case o.broken != "":
		return t.finding("broken run", target, "%s", o.broken)
	case t.bad != nil:
		return t.compareFault(target, o)
	case o.fault.set:
		return t.finding("false fault", target, "a fault where none is: %+v", o.fault)
	}
	for i, r := range results(t.subject.program) {
		got := o.values(t.subject.program)[i]
		for j, v := range got {
			allowed := t.allowed[i][j]
			if !allowed.holds(v) {
				return t.finding("result differs", target, "%s element %d of %d is %v, want %v, within %v of the oracle's",
					r.Name, j, len(got), v, t.want[i][j], allowed)
			}
			st.elements++
			if allowed.narrow() {
				st.narrow++
			}
		}
	}
	return nil
}

// compareFault holds a fault word against the bad element of the call.
func (t *trial) compareFault(target string, o *outcome) *finding {
	p := t.subject.program
	if !o.fault.set {
		if t.unread {
			return nil
		}
		return t.finding("missing fault", target, "no fault, want: %v", t.bad)
	}
	f := o.fault
	if int(f.tensor) >= len(p.Ins) || p.Ins[f.tensor].Name != t.bad.Tensor || f.pos != t.bad.Pos || f.value != t.bad.Value || f.bound != t.bad.Bound {
		return t.finding("wrong fault", target, "fault %+v, want: %v", f, t.bad)
	}
	return nil
}

// lowered reports whether the subject has kernels for a target.
func (t *trial) lowered(target bind.Target) bool { return t.subject.bound.Unlowered[target] == nil }
