//go:build proof

package fuzz

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/emit/c"
	"github.com/kernelgen/kgen/gen/ir"
)

//go:embed testdata/driver.c
var driver []byte

// ccTarget compiles the C kernels of many specs as one source and runs them with
// each instruction set of the machine.
type ccTarget struct {
	dir   string // with the headers and the compiled driver
	flags []string
	isas  int
	runs  int
}

var isaNames = []string{"c baseline", "c avx2", "c avx512"}

func newCC(dir string, flags ...string) (*ccTarget, error) {
	t := &ccTarget{dir: dir, flags: append([]string{"-std=gnu11", "-w"}, flags...)}
	headers, err := c.Headers()
	if err != nil {
		return nil, err
	}
	headers["driver.c"] = driver
	headers["none.c"] = []byte("#include \"kgen.h\"\nconst kg_kernel fuzz_kernels[] = {0};\n")
	for name, text := range headers {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return nil, err
		}
	}
	if err := t.cc("-c", "driver.c", "-o", "driver.o"); err != nil {
		return nil, err
	}
	if err := t.cc("none.c", "driver.o", "-o", "none"); err != nil {
		return nil, err
	}
	text, err := exec.Command(filepath.Join(dir, "none")).Output()
	if err != nil {
		return nil, err
	}
	best, err := strconv.Atoi(strings.TrimSpace(string(text)))
	t.isas = best + 1
	return t, err
}

func (t *ccTarget) cc(args ...string) error {
	cmd := exec.Command("cc", append(slices.Clone(t.flags), args...)...)
	cmd.Dir = t.dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cc: %w: %s", err, firstError(string(text)))
	}
	return nil
}

// firstError is the first error of a compiler's output, with the line it shows.
func firstError(text string) string {
	lines := strings.Split(text, "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "error:") })
	if i < 0 {
		return text
	}
	return strings.Join(lines[i:min(i+2, len(lines))], "\n")
}

// try runs the trials and compares. Where the source of all does not compile,
// each specimen is tried by itself.
func (t *ccTarget) try(st *stats, trials []*trial) []finding {
	trials = slices.DeleteFunc(slices.Clone(trials), func(x *trial) bool { return !x.lowered(bind.C) })
	if len(trials) == 0 {
		return nil
	}
	bin, index, err := t.build(trials)
	if err != nil {
		groups := bySpecimen(trials)
		if len(groups) == 1 {
			return []finding{*trials[0].finding("does not compile", "c", "%v", err)}
		}
		var found []finding
		for _, g := range groups {
			found = append(found, t.try(st, g)...)
		}
		return found
	}
	defer os.Remove(bin)
	var jobs []job
	for _, x := range trials {
		jobs = append(jobs, jobsOf(x, t.isas, index)...)
	}
	outcomes, err := t.run(bin, jobs)
	if err != nil {
		return []finding{*trials[0].finding("broken run", "c", "%v", err)}
	}
	return t.judge(st, trials, jobs, outcomes)
}

// judge compares each outcome, and the two runs with one instruction set, whose
// bits must not depend on how the work is cut.
func (t *ccTarget) judge(st *stats, trials []*trial, jobs []job, outcomes []*outcome) []finding {
	var found []finding
	for i, x := range trials {
		for isa := range t.isas {
			at := 2 * (i*t.isas + isa)
			whole, cut := outcomes[at], outcomes[at+1]
			st.launches += 2 * len(x.setup.variant.Kernels)
			f := x.compare(st, isaNames[isa], whole)
			if f == nil {
				f = x.compare(st, isaNames[isa]+", work in pieces", cut)
			}
			if f == nil && !whole.fault.set && !slices.EqualFunc(whole.values(x.subject.program), cut.values(x.subject.program), sameBits) {
				f = x.finding("depends on pieces", isaNames[isa], "other bits where the work is cut into %v", jobs[at+1].pieces)
			}
			if f != nil {
				found = append(found, *f)
				break
			}
		}
	}
	return found
}

func sameBits(x, y []float64) bool {
	return slices.EqualFunc(x, y, func(v, w float64) bool { return v == w || v != v && w != w })
}

func bySpecimen(trials []*trial) [][]*trial {
	var groups [][]*trial
	for _, x := range trials {
		if n := len(groups); n == 0 || groups[n-1][0].at != x.at {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], x)
	}
	return groups
}

// build compiles the kernels of the trials and numbers them by symbol.
func (t *ccTarget) build(trials []*trial) (bin string, index map[string]int, err error) {
	var funcs []*ir.Func
	index = map[string]int{}
	for _, x := range trials {
		for _, f := range x.subject.bound.C {
			if _, there := index[f.Symbol]; !there {
				index[f.Symbol] = len(funcs)
				funcs = append(funcs, f)
			}
		}
	}
	text, err := c.Emit(&c.File{Name: "batch.c", Spec: "specs/fuzz/drawn.toml", Hash: 1, ID: "kg_fuzz", Funcs: funcs})
	if err != nil {
		return "", nil, err
	}
	var table strings.Builder
	table.WriteString("#include \"kgen.h\"\n")
	for _, f := range funcs {
		fmt.Fprintf(&table, "void %s(const kg_call *, int64_t, int64_t);\n", f.Symbol)
	}
	table.WriteString("const kg_kernel fuzz_kernels[] = {\n")
	for _, f := range funcs {
		fmt.Fprintf(&table, "\t%s,\n", f.Symbol)
	}
	table.WriteString("};\n")
	if err := os.WriteFile(filepath.Join(t.dir, "batch.c"), text, 0o644); err != nil {
		return "", nil, err
	}
	if err := os.WriteFile(filepath.Join(t.dir, "table.c"), []byte(table.String()), 0o644); err != nil {
		return "", nil, err
	}
	t.runs++
	bin = filepath.Join(t.dir, fmt.Sprintf("batch%d", t.runs))
	return bin, index, t.cc("batch.c", "table.c", "driver.o", "-o", bin, "-lm")
}

// job is a trial with one instruction set and one way to cut the work.
type job struct {
	trial  *trial
	bytes  []byte
	pieces [][]int64
}

// jobsOf gives for each instruction set a run of whole kernels and one in
// pieces, which also lays buffers against the page in front of them.
func jobsOf(x *trial, isas int, index map[string]int) []job {
	rng := rand.New(rand.NewPCG(x.data, 0x2C))
	var list []job
	for isa := range isas {
		for _, cut := range []bool{false, true} {
			list = append(list, newJob(x, isa, cut, rng, index))
		}
	}
	return list
}

func newJob(x *trial, isa int, cut bool, rng *rand.Rand, index map[string]int) job {
	j := job{trial: x}
	put := func(n int64) { j.bytes = binary.LittleEndian.AppendUint64(j.bytes, uint64(n)) }
	s := x.setup
	put(int64(isa))
	put(int64(len(s.tensors)))
	for i, b := range s.tensors {
		flags := int64(0)
		if cut {
			flags |= 1
		}
		if s.writes[i] {
			flags |= 2
		}
		put(int64(len(b)))
		put(int64(elementBytes(s, i)))
		put(flags)
		j.bytes = append(j.bytes, b...)
	}
	put(int64(len(s.variant.Kernels)))
	for i := range s.variant.Kernels {
		k := &s.variant.Kernels[i]
		put(int64(index[k.Symbol]))
		put(int64(len(k.Buffers)))
		for _, b := range k.Buffers {
			put(int64(b.Tensor))
		}
		put(int64(k.BlockBytes))
		j.bytes = append(j.bytes, s.op.FillBlock(k, s.extent, s.params)...)
		put((k.CPU.Scratch + 63) &^ 63)
		pieces := [][2]int64{{0, s.items(k)}}
		if cut {
			pieces = shred(rng, s.items(k))
		}
		if s.items(k) == 0 {
			pieces = nil
		}
		put(int64(len(pieces)))
		var ends []int64
		for _, p := range pieces {
			put(p[0])
			put(p[1])
			ends = append(ends, p[0])
		}
		j.pieces = append(j.pieces, ends)
	}
	return j
}

func elementBytes(s *setup, i int) int {
	p := s.variant.Program
	switch n := len(p.Ins); {
	case i < n:
		return p.Ins[i].Type.Bytes()
	case i < n+len(p.Outs):
		return p.Outs[i-n].Type.Bytes()
	default:
		return s.variant.Temps[i-n-len(p.Outs)].Type.Bytes()
	}
}

// shred cuts n items into pieces, the last first.
func shred(rng *rand.Rand, n int64) [][2]int64 {
	var pieces [][2]int64
	for hi := n; hi > 0; {
		lo := max(hi-1-rng.Int64N(3), 0)
		if len(pieces) > 20 {
			lo = 0
		}
		pieces = append(pieces, [2]int64{lo, hi})
		hi = lo
	}
	return pieces
}

// run hands the jobs to the driver and reads what they left.
func (t *ccTarget) run(bin string, jobs []job) ([]*outcome, error) {
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(jobs)))
	for _, j := range jobs {
		file = binary.LittleEndian.AppendUint64(file, uint64(len(j.bytes)))
		file = append(file, j.bytes...)
	}
	in, out := filepath.Join(t.dir, "jobs"), filepath.Join(t.dir, "left")
	if err := os.WriteFile(in, file, 0o644); err != nil {
		return nil, err
	}
	if text, err := exec.Command(bin, in, out).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the driver: %w: %s", err, text)
	}
	left, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	var list []*outcome
	for _, j := range jobs {
		o := &outcome{}
		if sig := binary.LittleEndian.Uint64(left); sig != 0 {
			o.broken = fmt.Sprintf("a kernel ended with signal %d: it reaches beyond a buffer", sig)
		}
		left = left[8:]
		o.fault = readFault(left)
		left = left[faultBytes:]
		for _, b := range j.trial.setup.tensors {
			o.tensors = append(o.tensors, left[:len(b):len(b)])
			left = left[len(b):]
		}
		list = append(list, o)
	}
	return list, nil
}
