//go:build cgo

package cpu

import (
	"errors"
	"math"
	"os"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// moves is a program that fills a buffer and copies part of it.
func moves() *backend.Program {
	return &backend.Program{Slots: 1, Commands: []backend.Command{
		{Kind: backend.Fill, Name: "fill", Pattern: 0x0807060504030201, Bytes: 21, Bufs: []backend.Buf{{Off: 64}}},
		{Kind: backend.Copy, Name: "copy", Bytes: 5, Bufs: []backend.Buf{{}, {Off: 65}}},
		{Kind: backend.Copy, Name: "undo", Bytes: 5, OnFault: true, Bufs: []backend.Buf{{}, {Off: 128}}},
	}}
}

func TestFillAndCopy(t *testing.T) {
	d, err := Open(2, "")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	mem := d.Alloc(256)
	defer d.Free(mem)
	if uintptr(mem)%64 != 0 {
		t.Errorf("address %p", mem)
	}
	bytes := unsafe.Slice((*byte)(mem), 256)
	code, err := d.Build(moves())
	if err != nil {
		t.Fatal(err)
	}
	in, err := code.Instance()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Release()
	for seq := uint64(1); seq <= 6; seq++ {
		clear(bytes)
		in.Bind([]unsafe.Pointer{mem}, nil)
		if err := in.After([]uint64{seq - 1}); err != nil {
			t.Fatal(err)
		}
		var res backend.Result
		if seq%2 == 0 {
			d.Submit(seq, in)
			res = d.Wait(seq, in)
		} else {
			res = d.Run(seq, in)
		}
		if !res.OK() {
			t.Fatalf("%+v", res)
		}
		if !slices.Equal(bytes[:6], []byte{2, 3, 4, 5, 6, 0}) || bytes[64+20] != 5 || bytes[64+21] != 0 {
			t.Fatalf("got %v %v", bytes[:6], bytes[64:96])
		}
	}
}

func TestAllocTooMuch(t *testing.T) {
	d, err := Open(1, "baseline")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if p := d.Alloc(math.MaxInt64 / 2); p != nil {
		t.Error("got memory that cannot be")
	}
}

func TestBuildRefusesWhatItCannotRun(t *testing.T) {
	d, err := Open(1, "")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, c := range []backend.Command{{Kind: backend.Host, Name: "h"}, {Kind: backend.Kernel, Name: "k"}} {
		if _, err := d.Build(&backend.Program{Commands: []backend.Command{c}}); err == nil {
			t.Errorf("command %s accepted", c.Name)
		}
	}
	if _, err := Open(1, "mmx"); err == nil {
		t.Error("unknown instruction set accepted")
	}
	if errors.Is(err, backend.ErrMemory) {
		t.Error(err)
	}
}

// Closing a device ends its threads.
func TestThreadsEnd(t *testing.T) {
	tasks := func() int {
		names, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return 0
		}
		return len(names)
	}
	before := tasks()
	for range 20 {
		d, err := Open(4, "")
		if err != nil {
			t.Fatal(err)
		}
		code, _ := d.Build(&backend.Program{})
		in, _ := code.Instance()
		in.Bind(nil, nil)
		d.Submit(1, in)
		d.Wait(1, in)
		if d.Threads() != 1 {
			t.Errorf("%d threads for a queued program, want 1", d.Threads())
		}
		in.Release()
		d.Close()
	}
	for end := time.Now().Add(time.Second); tasks() > before+4 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if n := tasks(); n > before+4 { // Go may have made some of its own
		t.Errorf("%d threads, were %d", n, before)
	}
}
