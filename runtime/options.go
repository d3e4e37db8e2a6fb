package runtime

import (
	goruntime "runtime"
	"time"
)

// Option changes how Open sets up a device.
type Option func(*config) error

type config struct {
	workers   int
	poolBytes int64
	poolCount int
	programs  int
	reference bool
	card      int // the number of a CUDA card, negative for none
	metal     int // the number of a GPU that Metal knows, negative for none
	isa       string
	guards    bool
	deadline  time.Duration
	generated bool     // kernels only
	libraries bool     // a library's products, where they are not the default
	tf32      bool     // products of float32 in TF32
	without   []string // passes that are off
}

func defaults() config {
	return config{
		workers:   goruntime.GOMAXPROCS(0),
		poolBytes: 1 << 30,
		poolCount: 4096,
		programs:  64,
		card:      -1,
		metal:     -1,
	}
}

// WithWorkers sets how many threads share the work of one kernel, the
// submitting one included. The default is GOMAXPROCS. Results do not depend on it.
func WithWorkers(n int) Option {
	return func(c *config) error {
		if n < 1 || n > 1024 {
			return opError("open", ErrOption, "%d workers, must be in [1, 1024]", n)
		}
		c.workers = n
		return nil
	}
}

// WithPoolCap sets how many bytes of free device memory are kept for reuse. The
// default is 1 GiB; 0 keeps none.
func WithPoolCap(bytes int64) Option {
	return func(c *config) error {
		if bytes < 0 {
			return opError("open", ErrOption, "pool cap of %d bytes, must not be negative", bytes)
		}
		c.poolBytes = bytes
		return nil
	}
}

// WithProgramCap sets how many planned programs are kept for reuse. The default
// is 64.
func WithProgramCap(n int) Option {
	return func(c *config) error {
		if n < 1 {
			return opError("open", ErrOption, "program cap of %d, must be at least 1", n)
		}
		c.programs = n
		return nil
	}
}

// WithDeadline sets how long a program may take. One that takes longer is given up:
// it and all that are in flight fail with an error that wraps ErrDeadline, and so
// does everything later on this device; what the program may still write to is not
// reused until it ends. The default is to wait as long as it takes.
func WithDeadline(limit time.Duration) Option {
	return func(c *config) error {
		if limit <= 0 {
			return opError("open", ErrOption, "deadline of %v, must be positive", limit)
		}
		c.deadline = limit
		return nil
	}
}

// Reference selects the reference device, which runs the generated Go functions
// in float64. Without cgo every device is a reference device.
func Reference() Option {
	return func(c *config) error {
		c.reference = true
		return nil
	}
}

// CUDA selects an NVIDIA card by its number, from 0. It needs the driver and NVRTC,
// which compiles each kernel when a program first uses it and keeps it in the user's
// cache. Where something of that is missing, Open returns an error that wraps
// ErrUnavailable.
func CUDA(ordinal int) Option {
	return func(c *config) error {
		if ordinal < 0 {
			return opError("open", ErrOption, "CUDA card %d, cards count from 0", ordinal)
		}
		c.card = ordinal
		return nil
	}
}

// Metal selects a GPU that Metal knows by its number: 0 is the system's default one, the
// others follow as the system lists them. It must be Apple's, or have reductions over SIMD
// groups of 32 threads. Kernels are compiled when a program first uses them. Where there
// is no such GPU, Open returns an error that wraps ErrUnavailable.
func Metal(number int) Option {
	return func(c *config) error {
		if number < 0 {
			return opError("open", ErrOption, "Metal device %d, devices count from 0", number)
		}
		c.metal = number
		return nil
	}
}

// WithoutLibraries makes a card do with generated kernels. Else a matrix product with a
// bias and the tanh form of GELU, or without, is computed by cuBLASLt where the library
// is found: by the loader, in the CUDA toolkit or in the Python package nvidia-cublas.
func WithoutLibraries() Option {
	return func(c *config) error {
		c.generated = true
		return nil
	}
}

// WithLibraries lets MetalPerformanceShaders compute matrix products on a GPU that Metal
// knows: those of float32 and Float16 with no bias and no activation. Where the framework
// cannot be used, Open returns an error that wraps ErrUnavailable. On a card a library is
// the default.
func WithLibraries() Option {
	return func(c *config) error {
		c.libraries = true
		return nil
	}
}

// WithTF32 lets a card round the elements of float32 matrices to the 10 bits of mantissa
// that its tensor cores take (TF32) where cuBLASLt multiplies them: several times as fast,
// with errors of 2⁻¹¹ of each factor. Else float32 is multiplied in full.
func WithTF32() Option {
	return func(c *config) error {
		c.tf32 = true
		return nil
	}
}

// WithISA limits the CPU device to an instruction set: "baseline", "avx2" or
// "avx512". One that the machine lacks is an error. The default is the best
// there is.
func WithISA(name string) Option {
	return func(c *config) error {
		switch name {
		case "baseline", "avx2", "avx512":
			c.isa = name
			return nil
		}
		return opError("open", ErrOption, "unknown instruction set %q, want baseline, avx2 or avx512", name)
	}
}

// WithGuards is for tests of kernels: each tensor and workspace has memory of
// its own with guard bytes behind it, nothing is reused inside a program, and
// memory that a program has not written yet holds NaN (-1 in integers). A
// program that wrote to guard bytes ends with an error that wraps ErrGuard.
func WithGuards() Option {
	return func(c *config) error {
		c.guards = true
		return nil
	}
}
