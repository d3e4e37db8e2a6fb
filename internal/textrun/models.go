package textrun

import (
	"errors"

	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train"
	"github.com/kernelgen/kgen/train/config"
)

// OpenDevice opens the device of a configuration.
func OpenDevice(c *config.Config) (*runtime.Device, error) {
	switch c.Device {
	case "metal":
		return runtime.Open(runtime.Metal(0))
	case "cuda":
		return runtime.Open(runtime.CUDA(0))
	}
	if c.Workers == 0 {
		return runtime.Open()
	}
	return runtime.Open(runtime.WithWorkers(c.Workers))
}

// Models are those of a run; what its kind does not have is nil.
type Models[T nn.Float] struct {
	Encoder *models.TextEncoder[T]
	Decoder *models.TextDecoder[T]
}

// NewModels makes the models of a configuration with weights drawn from its seed. Close
// them when done.
func NewModels[T nn.Float](dev *runtime.Device, c *config.Config, s config.Sizes) (m *Models[T], err error) {
	m = &Models[T]{}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	shape := models.StackConfig{
		Width: c.Model.Width, Hidden: c.Model.Hidden, Kernel: c.Model.Kernel,
		Dilations: models.Doubling(c.Model.Blocks, c.Model.Dilation), Dropout: float32(c.Model.Dropout),
	}
	seed := uint64(c.Seed)
	if c.Kind != config.Decoder {
		m.Encoder, err = models.NewTextEncoder[T](dev, models.EncoderConfig{Vocab: s.Vocabulary, StackConfig: shape, Out: s.Dim, Tanh: c.Model.Tanh}, seed)
		if err != nil {
			return m, err
		}
		seed++
	}
	if c.Kind == config.Encoder {
		return m, nil
	}
	m.Decoder, err = models.NewTextDecoder[T](dev, models.DecoderConfig{Vocab: s.Vocabulary, StackConfig: shape, Cond: s.Dim}, seed)
	if err == nil && c.Kind == config.Combined {
		err = train.ShareLastBlock(m.Encoder, m.Decoder)
	}
	return m, err
}

// Parts lists the models by the names that a checkpoint has them under.
func (m *Models[T]) Parts() map[string]nn.Module {
	parts := map[string]nn.Module{}
	if m.Encoder != nil {
		parts["encoder"] = m.Encoder
	}
	if m.Decoder != nil {
		parts["decoder"] = m.Decoder
	}
	return parts
}

// Params lists the weights of the models, those that they share once.
func (m *Models[T]) Params() []nn.Named {
	var list []nn.Named
	for _, part := range []string{"encoder", "decoder"} {
		if module := m.Parts()[part]; module != nil {
			list = append(list, nn.Under(part, module)...)
		}
	}
	return nn.Distinct(list)
}

// Close releases the memory of the models.
func (m *Models[T]) Close() error {
	var errs []error
	for _, p := range m.Params() {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}
