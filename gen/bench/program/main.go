//go:build kgenbench

package program

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/kernelgen/kgen/runtime"
)

// setup is the first line of the input.
type setup struct {
	Threads int     `json:"threads"`
	Seconds float64 `json:"seconds"` // for each case, about
}

// request is a case: one call of an op.
type request struct {
	Op     int              `json:"op"`
	Ins    []tensor         `json:"ins"`
	Params []runtime.Scalar `json:"params"`
	Free   [][]int          `json:"free"`
	Outs   []string         `json:"outs"`
	Bytes  int64            `json:"bytes"`
}

// tensor is an input of a request: integers are in [0, Bound).
type tensor struct {
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
	Bound int64  `json:"bound"`
}

// answer is what a case gave.
type answer struct {
	Seconds float64 `json:"seconds"` // of one call
	Copy    float64 `json:"copy"`    // bytes a second, read and written, of memcpy
	Peak    float64 `json:"peak"`    // float operations a second of multiply-adds
	Error   string  `json:"error"`
}

// Main answers requests for calls of the given ops until the input ends, and
// ends the process.
func Main(ops []*runtime.Op) {
	if err := serve(ops, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ops []*runtime.Op, in io.Reader, out io.Writer) (err error) {
	lines, answers := json.NewDecoder(in), json.NewEncoder(out)
	var s setup
	if err := lines.Decode(&s); err != nil {
		return err
	}
	dev, err := runtime.Open(runtime.WithWorkers(s.Threads), runtime.WithPoolCap(4<<30))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	y := newYardstick(s.Threads)
	defer y.close()
	limit := time.Duration(s.Seconds * float64(time.Second))
	for {
		var r request
		if err := lines.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var a answer
		if a.Seconds, err = measure(dev, y, ops[r.Op], &r, limit); err != nil {
			a.Error = err.Error()
		} else {
			a.Copy, a.Peak = y.copyRate(calls(&r)*r.Bytes), y.peak
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}
