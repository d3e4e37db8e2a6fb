package config

import (
	"math"

	"github.com/kernelgen/kgen/gen/diag"
)

// Sizes are what the data says.
type Sizes struct {
	Vocabulary int // ids are less
	Longest    int // ids of a row of a batch
	Dim        int // elements of a teacher's vector, 0 without
}

// Parameters returns how many weights the models have: embeddings, blocks of a norm and
// two convolutions, and the layers behind them; a block that two models share once.
func (c *Config) Parameters(s Sizes) int {
	m := &c.Model
	block := 2*m.Width + m.Width*m.Kernel*m.Hidden + m.Hidden + m.Hidden*m.Width + m.Width
	body := s.Vocabulary*m.Width + m.Blocks*block
	encoder := body + m.Width*s.Dim + s.Dim
	decoder := body + m.Width*s.Vocabulary + s.Vocabulary
	if s.Dim > 0 {
		decoder += s.Dim*m.Width + m.Width
	}
	switch c.Kind {
	case Encoder:
		return encoder
	case Decoder:
		return decoder
	}
	return encoder + decoder - block
}

// CheckSizes reports tensors that would have more elements than kernels can count, before
// any is made.
func (c *Config) CheckSizes(s Sizes) diag.List {
	var list diag.List
	m := &c.Model
	rows := c.Data.Batch * s.Longest // less than 2⁵¹: a sample has less than 2³¹ ids
	for _, t := range []struct {
		what string
		made bool
		a, b int
		key  string
	}{
		{"convolution [hidden width kernel]", true, m.Hidden * m.Width, m.Kernel, "model.hidden"},
		{"embedding [vocabulary width]", true, s.Vocabulary, m.Width, "model.width"},
		{"windows of a convolution [batch ids width kernel]", true, rows, m.Width * m.Kernel, "data.batch"},
		{"values of a block [batch ids hidden]", true, rows, m.Hidden, "data.batch"},
		{"logits [batch ids vocabulary]", c.Kind != Encoder, rows, s.Vocabulary, "data.batch"},
	} {
		if t.made && t.a > math.MaxInt32/t.b {
			list.AddHint(c.places[t.key], "make one of its extents smaller",
				"the %s would have %d × %d elements, the most is %d", t.what, t.a, t.b, math.MaxInt32)
		}
	}
	return list
}
