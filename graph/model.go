package graph

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/kernelgen/kgen/runtime"
)

// Model estimates how long work takes on a device and on the CPU of a machine: for
// each call the longer of moving its bytes and doing its operations, as in Williams,
// Waterman and Patterson, Roofline, 2009; and for what one side has and the other
// needs, the transfer. Package calibrate measures one.
type Model struct {
	Machine  string `json:"machine"` // what it was measured on
	Device   Rates  `json:"device"`
	CPU      Rates  `json:"cpu"`
	Transfer Link   `json:"transfer"`
}

// Rates are what a device does in a given time.
type Rates struct {
	Bytes   float64       `json:"bytes_per_second"`     // of operands and results of a large call
	Flops   float64       `json:"flops_per_second"`     // of a large product of float32 matrices
	Map     float64       `json:"map_flops_per_second"` // of a function of each element, an intrinsic counting as one
	Call    time.Duration `json:"call_ns"`              // of the smallest call within a program
	Program time.Duration `json:"program_ns"`           // to start a program and to wait for it
}

// Link is the way between the memory of the host and that of the device. Its zero
// value is one memory that both use.
type Link struct {
	Bytes   float64       `json:"bytes_per_second"`
	Latency time.Duration `json:"latency_ns"`
}

// A call with more operations for each byte than this uses its operands again, as a
// product does.
const productIntensity = 8

// time returns how long calls take as one program.
func (r Rates) time(calls []runtime.CallCost) time.Duration {
	seconds := 0.0
	for _, c := range calls {
		flops := r.Map
		if c.Flops > productIntensity*c.Bytes {
			flops = r.Flops
		}
		seconds += max(float64(c.Bytes)/r.Bytes, float64(c.Flops)/flops)
	}
	return r.Program + time.Duration(len(calls))*r.Call + duration(seconds)
}

// time returns how long some transfers of bytes in all take.
func (l Link) time(bytes int64, transfers int) time.Duration {
	if l.Bytes == 0 {
		return 0
	}
	return time.Duration(transfers)*l.Latency + duration(float64(bytes)/l.Bytes)
}

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// Decision says where an evaluation would be done first.
type Decision struct {
	Device   bool          // on the device, not on the CPU
	OnDevice time.Duration // estimates; both hold their transfers
	OnCPU    time.Duration
	Moved    int64  // bytes between host and device, if the device does it
	Reason   string // for people
}

// ShouldUse returns where evaluating lazy tensors would run, and why; it runs nothing.
// The tensors' operands may be declared ones.
func (e *Executor) ShouldUse(tensors ...runtime.Operand) (Decision, error) {
	if len(tensors) == 0 {
		return Decision{}, fmt.Errorf("graph: should use: no tensor is given")
	}
	g, err := graphOf(tensors[0])
	if err != nil {
		return Decision{}, err
	}
	list, err := g.own(tensors)
	if err != nil {
		return Decision{}, err
	}
	part, err := g.part(list)
	if err != nil {
		return Decision{}, err
	}
	if part == nil {
		return Decision{Device: true, Reason: "everything is computed already"}, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.decide(g, part, list), nil
}

// decide returns where a part of a graph would be done first. The caller holds e.mu.
func (e *Executor) decide(g *Graph, part *runtime.Part, results []runtime.Handle) Decision {
	switch {
	case e.device == nil:
		return Decision{Reason: "the device is not available"}
	case e.model == nil:
		return Decision{Device: true, Reason: "there is no cost model: everything goes to the device"}
	}
	var c Decision
	transfers, back, backs := 0, int64(0), 0
	for _, h := range part.Inputs() {
		if n := g.away(h, e.device); n > 0 {
			c.Moved += n
			transfers++
		}
		if n := g.onlyOn(h, e.device); n > 0 {
			back += n
			backs++
		}
	}
	for _, h := range results {
		c.Moved += int64(h.Len()) * h.DType().Size()
		transfers++
	}
	calls := part.Costs()
	moving := e.model.Transfer.time(c.Moved, transfers)
	c.OnDevice = e.model.Device.time(calls) + moving
	c.OnCPU = e.model.CPU.time(calls) + e.model.Transfer.time(back, backs)
	c.Device = c.OnDevice <= c.OnCPU
	c.Reason = fmt.Sprintf("%s on the device, %s of it to move %d bytes; %s on the CPU",
		c.OnDevice.Round(time.Microsecond/10), moving.Round(time.Microsecond/10), c.Moved, c.OnCPU.Round(time.Microsecond/10))
	return c
}

// onlyOn returns the bytes of a lazy tensor's value if device d alone holds it.
func (g *Graph) onlyOn(h runtime.Handle, d *runtime.Device) int64 {
	bytes := int64(h.Len()) * h.DType().Size()
	if t, ok := g.sketch.Outside(h); ok {
		if t.Device() == d {
			return bytes
		}
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.values[h]
	if v == nil || v.host != nil {
		return 0
	}
	for _, t := range v.made {
		if t.Device() != d {
			return 0
		}
	}
	return bytes
}

// Save writes the model to a file, with the folders that are missing.
func (m *Model) Save(path string) error {
	text, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("graph: the model cannot be stored: %w", err)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".model-*")
	if err != nil {
		return fmt.Errorf("graph: the model cannot be stored: %w", err)
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(append(text, '\n'))
	if e := temp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("graph: the model cannot be stored: %w", err)
	}
	return nil
}

// LoadModel reads a model that Save wrote.
func LoadModel(path string) (*Model, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("graph: the model cannot be read: %w", err)
	}
	m := &Model{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("graph: %s is no model: %w", path, err)
	}
	for _, r := range []Rates{m.Device, m.CPU} {
		if !(r.Bytes > 0 && r.Flops > 0 && r.Map > 0 && r.Call >= 0 && r.Program >= 0) {
			return nil, fmt.Errorf("graph: %s is no model: its rates must be positive: %+v", path, r)
		}
	}
	if m.Transfer.Bytes < 0 || m.Transfer.Latency < 0 {
		return nil, fmt.Errorf("graph: %s is no model: its transfer is negative: %+v", path, m.Transfer)
	}
	return m, nil
}
