package runtime

import "github.com/kernelgen/kgen/runtime/internal/backend"

// NewReferenceBackend returns the backend of the reference device.
func NewReferenceBackend() backend.Backend { return newReference() }

// OpenReferenceOn opens a reference device on a backend of the test's own.
func OpenReferenceOn(b backend.Backend, opts ...Option) *Device {
	return newDevice(b, true, configured(opts))
}

func configured(opts []Option) config {
	c := defaults()
	for _, o := range opts {
		if err := o(&c); err != nil {
			panic(err)
		}
	}
	return c
}

// BackendOf returns the backend of a device.
func BackendOf(d *Device) backend.Backend { return d.backend }

// OpenCPUOn opens a CPU device on what wrap makes of its backend.
func OpenCPUOn(wrap func(backend.Backend) backend.Backend) (*Device, error) {
	b, reference, err := openCPU(defaults())
	if err != nil {
		return nil, err
	}
	return newDevice(wrap(b), reference, defaults()), nil
}

// OpenCUDAOn opens a CUDA device on a backend of the test's own.
func OpenCUDAOn(b backend.Backend, opts ...Option) *Device {
	c := configured(opts)
	d := newDevice(b, false, c)
	d.gpu, d.libraries, d.tf32 = &cudaGPU, !c.generated, c.tf32
	return d
}

// OpenMetalOn opens a Metal device on a backend of the test's own.
func OpenMetalOn(b backend.Backend, opts ...Option) *Device {
	c := configured(opts)
	d := newDevice(b, false, c)
	d.gpu, d.libraries = &metalGPU, c.libraries
	return d
}
