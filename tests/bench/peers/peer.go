//go:build cgo

package peers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// peer is the contestant that peers.py runs for one library. Requests and
// answers are lines of JSON.
type peer struct {
	name    string
	Version string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// request is one line to peers.py.
type request struct {
	Do      string     `json:"do"` // prepare, measure or drop
	Case    *benchCase `json:"case,omitempty"`
	Seconds float64    `json:"seconds,omitempty"`
}

// answer is one line from peers.py.
type answer struct {
	Version    string    `json:"version"` // the first line has it
	Has        bool      `json:"has"`
	Magnitudes []float64 `json:"magnitudes"`
	Best       float64   `json:"best"` // seconds
	Error      string    `json:"error"`
}

// keepMemory makes the C library's allocator keep what is freed and reuse it, as
// the allocators that PyTorch's tuning guide recommends do, and ours does. Else a
// large result would be fresh memory at each call, and page faults most of its
// time.
const keepMemory = "GLIBC_TUNABLES=glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=17179869184:glibc.malloc.top_pad=268435456:glibc.malloc.arena_max=1"

// startPeer starts peers.py, which o.dir holds, for one library.
func startPeer(o *options, name string) (*peer, error) {
	p := &peer{name: name, cmd: exec.Command(o.python, "-B", "-u", "peers.py", name, fmt.Sprint(o.threads))}
	p.cmd.Dir, p.cmd.Stderr = o.dir, os.Stderr
	for _, library := range []string{"OMP", "MKL", "OPENBLAS"} {
		p.cmd.Env = append(p.cmd.Env, fmt.Sprintf("%s_NUM_THREADS=%d", library, o.threads))
	}
	if !o.systemMalloc {
		p.cmd.Env = append(p.cmd.Env, keepMemory)
	}
	if name == "mlx" && o.blas != "" {
		p.cmd.Env = append(p.cmd.Env, "LD_PRELOAD="+o.blas)
	}
	p.cmd.Env = append(os.Environ(), p.cmd.Env...)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	a, err := p.answer()
	if err != nil {
		return nil, err
	}
	p.Version = a.Version
	return p, nil
}

func (p *peer) ask(r request) (*answer, error) {
	line, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	return p.answer()
}

func (p *peer) answer() (*answer, error) {
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("%s has ended: %w", p.name, err)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return nil, fmt.Errorf("%s: answer %q: %w", p.name, line, err)
	}
	if a.Error != "" {
		return nil, fmt.Errorf("%s: %s", p.name, a.Error)
	}
	return &a, nil
}

func (p *peer) prepare(c *benchCase) ([]float64, bool, error) {
	a, err := p.ask(request{Do: "prepare", Case: c})
	if err != nil {
		return nil, false, err
	}
	return a.Magnitudes, a.Has, nil
}

func (p *peer) measure(turn time.Duration) (time.Duration, error) {
	a, err := p.ask(request{Do: "measure", Seconds: turn.Seconds()})
	if err != nil {
		return 0, err
	}
	return time.Duration(a.Best * float64(time.Second)), nil
}

func (p *peer) drop() error {
	_, err := p.ask(request{Do: "drop"})
	return err
}

// close ends the process.
func (p *peer) close() error {
	if err := p.in.Close(); err != nil {
		return err
	}
	return p.cmd.Wait()
}
