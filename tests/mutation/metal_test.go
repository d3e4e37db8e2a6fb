package mutation

import (
	"bytes"
	"context"
	byteorder "encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kernelgen/kgen/gen"
	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/emit/msl"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/plan"
	"github.com/kernelgen/kgen/gen/sim"
	"github.com/kernelgen/kgen/gen/sim/simtest"
	"github.com/kernelgen/kgen/gen/simrun"
)

// tries are the extents that the axes of an op get in turn, one list a call, and the seed
// of its parameters: few of all, odd extents, ones that wide forms take and that end within
// a tile, and long rows and columns; small ones for what takes the product of all of them;
// and slices of nothing.
var tries = []struct {
	extents []int
	seed    uint64
}{
	{[]int{2, 33, 18, 7}, 0}, {[]int{70, 33, 18, 7}, 0}, {[]int{40, 104, 24, 16}, 1}, {[]int{5, 520}, 2}, {[]int{3, 4104}, 3}, {[]int{2, 66, 47, 39}, 4},
	{[]int{5000, 1, 3}, 5}, {[]int{1, 9000, 35}, 6}, {[]int{4104, 8}, 7}, {[]int{1, 130, 67, 41}, 8}, {[]int{3, 8300}, 9},
	{[]int{40000, 3, 1}, 10}, {[]int{130, 9, 40}, 11}, {[]int{3, 0}, 12}, {[]int{16, 0}, 13}, {[]int{600, 0, 8}, 27},
	{[]int{4, 24, 8, 3}, 14}, {[]int{2, 40, 8, 5}, 15}, {[]int{2, 21, 6, 4}, 17}, {[]int{1, 600, 2, 600}, 19}, {[]int{1, 4110, 1, 4110}, 21},
	{[]int{64, 9, 8, 3}, 25}, {[]int{6, 7, 4105}, 26}, {[]int{40, 5, 4112}, 28}, {[]int{2, 3, 5, 4105}, 29}, {[]int{2, 3, 8, 4112}, 30},
}

// TestMetal leaves out, one at a time, each barrier, each condition before an access, each
// clamp of an index and each end of a loop of the Metal kernels, in every form and type,
// and runs them: all but the harmless ones are found out.
func TestMetal(t *testing.T) {
	simtest.Need(t)
	specs := newModule(t).compile(t).Specs
	if *full {
		specs = rootSpecs(t)
	}
	var sum tally
	t.Run("specs", func(t *testing.T) {
		for _, s := range specs {
			if s.Raw != nil {
				continue // has no conditions that are known as such
			}
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				list := newShader(t, s).try(t)
				(&tally{list: list}).check(t)
				sum.add(list)
			})
		}
	})
	sum.log(t)
}

// rootSpecs are the specs of this repository.
func rootSpecs(t *testing.T) []*gen.Spec {
	t.Helper()
	m, err := gen.Open("../..")
	if err != nil {
		t.Fatal(err)
	}
	res, list, err := m.Compile()
	if err != nil || len(list) > 0 {
		t.Fatal(err, list)
	}
	return res.Specs
}

// shader is the Metal source of a spec with all mutants in it.
type shader struct {
	spec      *gen.Spec
	functions map[string]*switched // by symbol
	users     map[string]user
	symbols   []string
	text      []byte
	dir       string
	programs  map[sim.Sanitizer]*sim.Program
	costs     [2]int // launches are tried that cost more than the first, up to the second
}

// user is a variant that launches a function, and the kernel that it is of.
type user struct {
	op      *gen.Op
	variant int
	kernel  int
}

func newShader(t *testing.T, s *gen.Spec) *shader {
	t.Helper()
	x := &shader{spec: s, functions: map[string]*switched{}, users: map[string]user{}, dir: programDir(t), programs: map[sim.Sanitizer]*sim.Program{}}
	blocks := map[string]int{}
	for _, op := range ops(s) {
		for v := range op.Bound.Op.Variants {
			for i, k := range op.Bound.Op.Variants[v].Kernels {
				for _, symbol := range k.Functions() {
					if _, known := x.users[symbol]; !known {
						x.users[symbol], blocks[symbol] = user{op, v, i}, blockOf(&k, symbol)
					}
				}
			}
		}
	}
	var kernels []*ir.Func
	found := 0
	for _, op := range ops(s) {
		for _, f := range op.Bound.MSL {
			if _, used := x.users[f.Symbol]; !used || x.functions[f.Symbol] != nil {
				continue
			}
			if sw := newSwitched(f, blocks[f.Symbol]); len(sw.mutants) > 0 {
				if found++; !*full && found%12 != 1 {
					continue // one function of twelve here, all in make proof
				}
				x.functions[f.Symbol] = sw
				x.symbols = append(x.symbols, f.Symbol)
				kernels = append(kernels, f)
			}
		}
	}
	text, err := msl.Emit(&msl.File{Spec: s.File, Kernels: kernels})
	if err != nil {
		t.Fatal(err)
	}
	x.text = text
	return x
}

// blockOf is the size of the parameter block of a function of k.
func blockOf(k *bind.Kernel, symbol string) int {
	if k.Split != nil {
		for _, half := range []*bind.Kernel{&k.Split.Parts, &k.Split.Join} {
			if half.Symbol == symbol {
				return half.BlockBytes
			}
		}
	}
	return k.BlockBytes
}

// programDir keeps programs from one run to the next.
func programDir(t *testing.T) string {
	dir, err := sim.CacheDir()
	if err != nil {
		return t.TempDir()
	}
	return dir
}

func (x *shader) program(t *testing.T, san sim.Sanitizer) *sim.Program {
	t.Helper()
	if x.programs[san] == nil {
		p, err := sim.Build(t.Context(), x.dir, x.spec.Name+".metal", x.text, san|sim.Quick)
		if err != nil {
			t.Fatal(err)
		}
		x.programs[san] = p
	}
	return x.programs[san]
}

// try runs every mutant of every function until it is found out: barriers under the
// thread sanitizer, all others under the address sanitizer and then, since what several
// threads do that one should do is a race, under the thread sanitizer. Launches that take
// long are for what others do not show.
func (x *shader) try(t *testing.T) []*outcome {
	var list []*outcome
	for _, symbol := range x.symbols {
		for _, m := range x.functions[symbol].mutants {
			list = append(list, &outcome{left: m, symbol: symbol})
		}
	}
	for _, x.costs = range [][2]int{{0, fewGroups}, {fewGroups, math.MaxInt}} {
		for _, e := range tries {
			x.tryExtents(t, e.extents, e.seed, list, sim.Thread, func(o *outcome) bool { return o.kind == barrier && o.how != byRace })
			x.tryExtents(t, e.extents, e.seed, list, sim.Address|sim.Undefined, func(o *outcome) bool {
				return o.kind != barrier && o.how != byAddress && o.how != byTime && (o.how == unseen || o.tries < enoughTries)
			})
		}
		for _, e := range tries {
			x.tryExtents(t, e.extents, e.seed, list, sim.Thread, func(o *outcome) bool { return o.kind != barrier && o.how == unseen && !o.harmless() })
		}
	}
	return list
}

// enoughTries is on how many calls a mutant is tried that gives other values, for a
// report of the address sanitizer.
const enoughTries = 3

// tryExtents runs the mutants that are wanted on calls with some extents, and parameters
// by a seed.
func (x *shader) tryExtents(t *testing.T, extents []int, seed uint64, list []*outcome, san sim.Sanitizer, wanted func(*outcome) bool) {
	for _, symbol := range x.symbols {
		var left []*outcome
		for _, o := range list {
			if o.symbol == symbol && wanted(o) && !(o.harmless() && o.tries >= enoughTries) {
				left = append(left, o)
			}
		}
		if len(left) == 0 {
			continue
		}
		for _, l := range x.launches(t, symbol, extents, seed) {
			x.tryLaunch(t, l, san, left, wanted)
		}
	}
}

// launches are those of a function on a call with some extents: as it is, with ids out of
// bounds where it has ids, and with as many chunks as larger inputs have.
func (x *shader) launches(t *testing.T, symbol string, extents []int, seed uint64) []simrun.Launch {
	t.Helper()
	u := x.users[symbol]
	p := u.op.Programs[u.variant]
	call, sizes, ok := simrun.Arguments(p, extents, seed)
	if !ok || contracts(u) && work(sizes.Extent) > maxWork {
		return nil
	}
	list := x.jobs(t, u, symbol, call, 0)
	if broken, ok := simrun.BreakBounds(p, call); ok {
		list = append(list, x.jobs(t, u, symbol, broken, 0)...)
	}
	for _, n := range chunks {
		list = append(list, x.jobs(t, u, symbol, call, n)...)
	}
	return list
}

// chunks are less and more than a group reads in one turn, and multiples of what a wide
// form reads at a time.
var chunks = []int64{40, 4104}

// contracts reports whether u is of a matrix product, whose work is the product of all
// extents; that of other kernels is bounded by the size of their tensors.
func contracts(u user) bool {
	shape := u.op.Bound.Plans[u.variant].Kernels[u.kernel].Shape
	return shape == plan.Contract || shape == plan.Scatter
}

// maxWork is the largest product of extents of a matrix product that is tried.
const maxWork = 400_000

func work(extents []int64) int64 {
	n := int64(1)
	for _, e := range extents {
		n *= max(e, 1)
	}
	return n
}

// jobs are the launches of a function for a call, with so many chunks if not 0.
func (x *shader) jobs(t *testing.T, u user, symbol string, call oracle.Call, chunks int64) []simrun.Launch {
	t.Helper()
	list, err := simrun.Launches(u.op.Bound.Op, u.variant, call, chunks)
	if err != nil {
		t.Fatal(err)
	}
	list = slices.DeleteFunc(list, func(l simrun.Launch) bool {
		n := l.Job.Grid[0] * l.Job.Grid[1] * l.Job.Grid[2]
		cost := n
		if contracts(u) {
			cost *= productCost
		}
		return l.Job.Kernel != symbol || n > maxGroups || cost <= x.costs[0] || cost > x.costs[1]
	})
	return list
}

// A launch with more than fewGroups groups takes long, of which one of a product counts as
// productCost, and none is tried with more than maxGroups.
const (
	fewGroups   = 700
	maxGroups   = 4200
	productCost = 32
)

// tryLaunch runs mutants on a launch, on which the kernel as it is must be clean.
func (x *shader) tryLaunch(t *testing.T, l simrun.Launch, san sim.Sanitizer, list []*outcome, wanted func(*outcome) bool) {
	x.program(t, san) // takes no part in the time
	start := time.Now()
	intact := x.run(t, l, -1, san, intactLimit)
	if intact == nil {
		return // too much to be tried
	}
	if err := intact.Err(); err != nil || intact.Buffers == nil {
		t.Fatalf("%s is wrong as it is, axes %v: %v", l.Job.Kernel, l.Extent, err)
	}
	limit := 2*time.Second + 5*time.Since(start) // a machine that is busy with others slows both
	for _, o := range list {
		if wanted(o) {
			o.see(x.run(t, l, o.number, san, limit), intact.Buffers)
		}
	}
}

// intactLimit is how long a kernel may take as it is for its mutants to be tried.
const intactLimit = 6 * time.Second

// run runs one mutant; nil if it does not come to an end in time.
func (x *shader) run(t *testing.T, l simrun.Launch, number int64, san sim.Sanitizer, limit time.Duration) *sim.Result {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), limit)
	defer stop()
	job := l.Job
	n := len(l.Kernel.Buffers)
	job.Buffers = slices.Clone(job.Buffers)
	if l.Kernel.BlockBytes == 0 {
		job.Buffers = slices.Insert(job.Buffers, n, sim.Buffer{Index: n})
	}
	job.Buffers[n].Data = byteorder.LittleEndian.AppendUint64(slices.Clone(job.Buffers[n].Data), uint64(number))
	r, err := x.program(t, san).Run(ctx, job)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// evidence is how a mutant was found out; the strongest counts.
type evidence string

const (
	byAddress evidence = "address sanitizer"
	byRace    evidence = "thread sanitizer"
	byReport  evidence = "another report" // a barrier that not all reach, an overflow
	byTime    evidence = "no end"
	byValues  evidence = "other values"
	unseen    evidence = ""
)

// outcome is what became of a mutant.
type outcome struct {
	left
	symbol string
	how    evidence
	tries  int
}

var strength = []evidence{unseen, byValues, byTime, byReport, byRace, byAddress}

// see notes what a run shows.
func (o *outcome) see(r *sim.Result, intact [][]byte) {
	o.tries++
	how := unseen
	switch {
	case r == nil:
		how = byTime
	case has(r, sim.Bounds) || has(r, sim.Crash):
		how = byAddress
	case has(r, sim.DataRace):
		how = byRace
	case len(r.Reports) > 0:
		how = byReport
	case !slices.EqualFunc(r.Buffers, intact, bytes.Equal):
		how = byValues
	}
	if slices.Index(strength, how) > slices.Index(strength, o.how) {
		o.how = how
	}
}

func has(r *sim.Result, kind sim.ReportKind) bool {
	return slices.ContainsFunc(r.Reports, func(x sim.Report) bool { return x.Kind == kind })
}

func (o *outcome) String() string { return fmt.Sprintf("%s: %s %s", o.symbol, o.kind, o.text) }

// tally gathers the outcomes of all specs.
type tally struct {
	mu   sync.Mutex
	list []*outcome
}

func (s *tally) add(list []*outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, list...)
}

// check logs how many mutants of each kind were found out by what, and fails the test
// for each that was not, or for a barrier by something else than a race.
func (s *tally) check(t *testing.T) {
	slices.SortStableFunc(s.list, func(a, b *outcome) int { return strings.Compare(a.symbol, b.symbol) })
	s.log(t)
	for _, o := range s.list {
		switch {
		case o.harmless() && (o.how == byAddress || o.how == byRace):
			t.Errorf("%s is not harmless: found out by the %s", o, o.how)
		case o.harmless():
		case o.tries == 0:
			t.Errorf("%s never ran: no call of its op is small enough", o)
		case o.how == unseen, o.kind == barrier && o.how != byRace:
			t.Errorf("%s is not found out", o)
		case o.kind == guard && o.how != byAddress:
			t.Logf("%s: %s", o, o.how)
		}
	}
}

func (s *tally) log(t *testing.T) {
	for _, k := range []kind{barrier, guard, clamp, loopEnd, condition} {
		s.logKind(t, k)
	}
}

func (s *tally) logKind(t *testing.T, k kind) {
	count := map[evidence]int{}
	all, harmless, idle := 0, 0, 0
	for _, o := range s.list {
		switch {
		case o.kind != k:
		case o.harmless():
			harmless++
		case o.tries == 0:
			idle++
		default:
			count[o.how]++
			all++
		}
	}
	if all+harmless+idle == 0 {
		return
	}
	var parts []string
	for i := len(strength) - 1; i > 0; i-- {
		if n := count[strength[i]]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d by %s", n, strength[i]))
		}
	}
	t.Logf("%s: %d of %d found out (%s), %d harmless, %d never ran", k, all-count[unseen], all, strings.Join(parts, ", "), harmless, idle)
}
