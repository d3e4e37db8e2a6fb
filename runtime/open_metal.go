package runtime

import (
	"math"

	"github.com/kernelgen/kgen/runtime/internal/metal"
)

// metalGPU has 40 cores, as the larger of Apple's chips do: how many there are Metal does
// not say.
var metalGPU = gpu{
	name: "Metal", source: func(op *Op) *string { return op.Metal }, cores: 40,
	maxGroups: [3]int64{math.MaxUint32 / 1024, math.MaxUint32 / 1024, math.MaxUint32 / 1024},
}

// openMetal opens a GPU that Metal knows.
func openMetal(c config) (*Device, error) {
	switch {
	case c.reference:
		return nil, opError("open", ErrOption, "Metal and Reference are two devices: give one of them")
	case c.guards:
		return nil, opError("open", ErrOption, "WithGuards and Metal: the host may not see the guard bytes of a GPU; MTL_SHADER_VALIDATION=1 in the environment finds what they do")
	case c.isa != "":
		return nil, opError("open", ErrOption, "WithISA(%q) and Metal: instruction sets are those of the CPU", c.isa)
	}
	b, err := metal.Open(c.metal)
	if err != nil {
		return nil, &Error{Op: "open", Err: unavailable{err}, Text: err.Error()}
	}
	if c.libraries {
		if err := b.OpenProducts(); err != nil {
			b.Close()
			return nil, &Error{Op: "open", Err: unavailable{err}, Text: err.Error()}
		}
	}
	d := newDevice(b, false, c)
	d.gpu, d.libraries = &metalGPU, c.libraries
	return d, nil
}

// BeginCapture writes what a Metal device does from now on to a new .gputrace file for
// Xcode, until EndCapture. The process must have been started with MTL_CAPTURE_ENABLED=1.
func (d *Device) BeginCapture(path string) error {
	m, ok := d.backend.(*metal.Device)
	if !ok {
		return opError("capture", ErrOption, "device %s: captures are of Metal devices", d.Name())
	}
	d.mu.Lock()
	closed := d.closed
	d.mu.Unlock()
	if closed {
		return &Error{Op: "capture", Err: ErrClosed}
	}
	if err := m.BeginCapture(path); err != nil {
		return &Error{Op: "capture", Err: unavailable{err}, Text: err.Error()}
	}
	return nil
}

// EndCapture ends the capture and completes its file. It is for work that is synced: what
// is still in flight is not in the file.
func (d *Device) EndCapture() {
	if m, ok := d.backend.(*metal.Device); ok {
		m.EndCapture()
	}
}
