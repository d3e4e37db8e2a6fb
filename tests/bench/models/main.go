//go:build cgo

package models

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"github.com/kernelgen/kgen/runtime"
)

type options struct {
	python, dir, only string
	threads           int
	turn, limit       time.Duration
	trace             bool
}

// Main runs the program with the arguments after its name.
func Main(args []string) error {
	var o options
	flag := flag.NewFlagSet("models", flag.ExitOnError)
	flag.StringVar(&o.python, "python", "", "Python that has PyTorch; without one only our step is timed")
	flag.StringVar(&o.dir, "dir", "tests/bench/models", "folder of models.py")
	flag.StringVar(&o.only, "only", "", "run the models that match this regular expression")
	flag.IntVar(&o.threads, "threads", 2, "threads of each contestant")
	flag.DurationVar(&o.turn, "turn", time.Second, "length of a turn")
	flag.DurationVar(&o.limit, "limit", 30*time.Second, "time for the turns of one model")
	flag.BoolVar(&o.trace, "trace", false, "print where the time of our step goes")
	if err := flag.Parse(args); err != nil {
		return err
	}
	return run(&o, os.Stdout)
}

func run(o *options, w io.Writer) error {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d threads each; a ratio is our steps per second over PyTorch's\n\n", o.threads)
	fmt.Fprintf(w, "%-8s %10s %12s %12s %7s\n", "model", "weights", "ours ms", "PyTorch ms", "ratio")
	for _, c := range contests {
		if !only.MatchString(c.Name) {
			continue
		}
		if err := c.run(o, w); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

// first is how many steps must have the same losses.
const first = 5

func (c contest) run(o *options, w io.Writer) (err error) {
	dev, err := runtime.Open(runtime.WithWorkers(o.threads), runtime.WithPoolCap(4<<30))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	t, err := c.trainer(dev)
	if err != nil {
		return err
	}
	var p *peer
	if o.python != "" {
		if p, err = c.startPeer(o, t); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.close()) }()
	}
	if err := agree(t, p); err != nil {
		return err
	}
	ours, theirs, err := turns(o, t, p)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%-8s %10d %12.2f", c.Name, t.weights, ours.Seconds()*1e3)
	if p != nil {
		fmt.Fprintf(w, " %12.2f %7.2f", theirs.Seconds()*1e3, theirs.Seconds()/ours.Seconds())
	}
	fmt.Fprintln(w)
	if o.trace {
		return t.trace(dev, w)
	}
	return nil
}

// agree compares the losses of the first steps.
func agree(t *trainer, p *peer) error {
	var theirs answer
	if p != nil {
		var err error
		if theirs, err = p.ask(request{Do: "steps", N: first}); err != nil {
			return err
		}
	}
	for i := range first {
		loss, err := t.run(context.Background())
		if err != nil {
			return err
		}
		if p == nil {
			continue
		}
		if want := theirs.Losses[i]; !(math.Abs(float64(loss)-want) <= 1e-4*math.Abs(want)) {
			return fmt.Errorf("the loss of step %d is %v, PyTorch's %v: they do not compute the same", i, loss, want)
		}
	}
	return nil
}

// turns lets the contestants step in turn and returns the shortest time of each.
func turns(o *options, t *trainer, p *peer) (ours, theirs time.Duration, err error) {
	ours, theirs = math.MaxInt64, math.MaxInt64
	for begin := time.Now(); time.Since(begin) < o.limit; {
		for turn := time.Now(); time.Since(turn) < o.turn; {
			start := time.Now()
			if _, err := t.run(context.Background()); err != nil {
				return 0, 0, err
			}
			ours = min(ours, time.Since(start))
		}
		if p == nil {
			continue
		}
		a, err := p.ask(request{Do: "measure", Seconds: o.turn.Seconds()})
		if err != nil {
			return 0, 0, err
		}
		theirs = min(theirs, time.Duration(a.Best*float64(time.Second)))
	}
	return ours, theirs, nil
}

// peer is PyTorch, in a process that reads and writes lines of JSON.
type peer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	dir string
}

type request struct {
	Do      string  `json:"do"` // steps or measure
	N       int     `json:"n,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

type answer struct {
	Losses []float64 `json:"losses"`
	Best   float64   `json:"best"` // seconds
}

// startPeer starts models.py with the weights of t.
func (c contest) startPeer(o *options, t *trainer) (p *peer, err error) {
	dir, err := os.MkdirTemp("", "kgen-models-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	file := filepath.Join(dir, "weights")
	if err := t.writeWeights(file); err != nil {
		return nil, err
	}
	shape, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	p = &peer{dir: dir, cmd: exec.Command(o.python, "-B", "-u", "models.py", string(shape), file, fmt.Sprint(o.threads))}
	p.cmd.Dir, p.cmd.Stderr = o.dir, os.Stderr
	// The allocator keeps what is freed, as ours does; see tests/bench/peers.
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("OMP_NUM_THREADS=%d", o.threads),
		"GLIBC_TUNABLES=glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=17179869184:glibc.malloc.top_pad=268435456:glibc.malloc.arena_max=1")
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	return p, p.cmd.Start()
}

func (p *peer) ask(r request) (answer, error) {
	var a answer
	line, err := json.Marshal(r)
	if err != nil {
		return a, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return a, fmt.Errorf("PyTorch: %w", err)
	}
	if line, err = p.out.ReadBytes('\n'); err != nil {
		return a, fmt.Errorf("PyTorch has ended: %w", err)
	}
	return a, json.Unmarshal(line, &a)
}

func (p *peer) close() error {
	return errors.Join(p.in.Close(), p.cmd.Wait(), os.RemoveAll(p.dir))
}

// writeWeights writes the weights one after the other, little-endian.
func (t *trainer) writeWeights(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for _, p := range t.params {
		values, err := p.Values()
		if err != nil {
			return errors.Join(err, f.Close())
		}
		if err := binary.Write(w, binary.LittleEndian, values); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(w.Flush(), f.Close())
}
