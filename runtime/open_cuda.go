package runtime

import "github.com/kernelgen/kgen/runtime/internal/cuda"

// openCUDA opens a card.
func openCUDA(c config) (*Device, error) {
	switch {
	case c.reference:
		return nil, opError("open", ErrOption, "CUDA and Reference are two devices: give one of them")
	case c.guards:
		return nil, opError("open", ErrOption, "WithGuards and CUDA: the host cannot see the guard bytes of a card; compute-sanitizer finds what they do")
	case c.tf32 && c.generated:
		return nil, opError("open", ErrOption, "WithTF32 and WithoutLibraries: only the library's products are in TF32")
	case c.isa != "":
		return nil, opError("open", ErrOption, "WithISA(%q) and CUDA: instruction sets are those of the CPU", c.isa)
	}
	b, err := cuda.Open(c.card)
	if err != nil {
		return nil, &Error{Op: "open", Err: unavailable{err}, Text: err.Error()}
	}
	d := newDevice(b, false, c)
	d.gpu, d.libraries, d.tf32 = &cudaGPU, !c.generated, c.tf32
	return d, nil
}

// unavailable is why a device cannot be opened.
type unavailable struct{ err error }

func (u unavailable) Error() string   { return u.err.Error() }
func (u unavailable) Unwrap() []error { return []error{ErrUnavailable, u.err} }
