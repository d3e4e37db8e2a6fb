package backend

import (
	"errors"
	"time"
	"unsafe"
)

// ErrMemory is wrapped by errors that more free memory would have avoided. They
// do not make the device unusable.
var ErrMemory = errors.New("out of memory")

// A Backend owns one compute device: its memory and the order in which
// programs run on it. Programs run one after another, in the order of their
// sequence numbers 1, 2, 3, …; the caller gives each number exactly once.
//
// Methods may be called from several goroutines; the caller serialises calls
// of Submit so that they come in the order of their sequence numbers.
type Backend interface {
	// Name is the backend's name, as in "cpu".
	Name() string
	// Alloc returns uninitialised memory of the device, aligned to 64 bytes. The
	// host may be unable to address it: it reads and writes it through Download and
	// Upload. The size is positive. A nil pointer means out of memory.
	Alloc(bytes int64) unsafe.Pointer
	// Free releases memory that Alloc returned. No program in flight uses it.
	Free(p unsafe.Pointer)
	// Upload copies n bytes from the host to device memory that no program uses. A
	// shorter copy may succeed where it fails.
	Upload(dst, src unsafe.Pointer, n int64) error
	// Download copies n bytes from device memory that no program writes to the
	// host; see Upload.
	Download(dst, src unsafe.Pointer, n int64) error
	// Build prepares a program to be run many times.
	Build(p *Program) (Code, error)
	// Run executes an instance and waits for it: one crossing of cgo.
	Run(seq uint64, in Instance) Result
	// Submit queues an instance and returns at once.
	Submit(seq uint64, in Instance)
	// Await waits until the program with this number is complete, but no longer
	// than d, and reports whether it is.
	Await(seq uint64, d time.Duration) bool
	// Wait blocks until the program with this number is complete.
	Wait(seq uint64, in Instance) Result
	// Now is the time on the clock of Instance.Times, in nanoseconds.
	Now() int64
	// Close releases everything. No program may be queued or running.
	Close()
}

// Code is a program made ready for a backend.
type Code interface {
	// Instance returns memory for one run of the program in flight; its error
	// wraps ErrMemory.
	Instance() (Instance, error)
}

// An Instance is one run of a program. It may be bound and run again after the
// run is complete.
type Instance interface {
	// Bind sets the base address of each memory slot and the scalar parameters.
	Bind(base []unsafe.Pointer, param []uint64)
	// After makes the run fail if one of these earlier programs failed: none of its
	// guarded commands runs, and others write only what has no meaning after a
	// failure. None of the programs is more than MaxInFlight before this one.
	After(seqs []uint64) error
	// Command returns the position of the command that the running program has
	// come to, -1 if the backend does not know.
	Command() int
	// Timed says whether the runs from now on note when their commands end; its
	// error wraps ErrMemory.
	Timed(on bool) error
	// Times returns when a timed run that computed everything, or found a fault,
	// began and when each of its commands ended. A command that did not run took
	// little or no time. The slice is valid until the instance runs again or is released.
	Times() []int64
	// Release frees the instance.
	Release()
}

// MaxInFlight is the largest number of programs that are submitted and not
// complete at one time.
const MaxInFlight = 256

// Result is the outcome of a run.
type Result struct {
	Fault   Fault
	Skipped bool  // a program named to After had failed
	Err     error // the device failed; unless it wraps ErrMemory, every later run will too
}

// OK reports whether the run computed everything.
func (r Result) OK() bool { return !r.Fault.Set && !r.Skipped && r.Err == nil }

// Fault is a value that a kernel found to be out of bounds.
type Fault struct {
	Set    bool
	Op     int32 // Command.Op of the kernel
	Tensor int32
	Pos    int64
	Value  int64
	Bound  int64
}
