package config

import "github.com/kernelgen/kgen/gen/diag"

// The kinds of models that a run trains.
const (
	Encoder  = "encoder"  // texts into the vectors of a teacher
	Decoder  = "decoder"  // a text into what comes next
	Combined = "combined" // both, in turns, with one block shared
)

// Config is a training run. The comments of its keys are in keys.go.
type Config struct {
	Kind      string
	Out       string
	Seed      int
	Device    string
	Workers   int
	Precision string
	Data      Data
	Model     Model
	Optimiser Optimiser
	Schedule  Schedule
	Loss      Loss
	Log       Log

	places map[string]diag.Pos // where keys were given
}

// Data is what is learned from.
type Data struct {
	Train, Validation string
	Holdout           float64
	Tokenizer         string
	Vocabulary        int
	Window            int
	Widths            []int
	Truncate          bool
	Batch             int
}

// Model is the shape of the model, or of both of a combined one.
type Model struct {
	Width, Hidden, Kernel, Blocks, Dilation int
	Dropout                                 float64
	Tanh                                    bool
	Embeddings                              string
}

// Optimiser is how weights are changed.
type Optimiser struct {
	Method        string
	Beta1, Beta2  float64
	Eps           float64
	Momentum      float64
	Nesterov      bool
	Decay         float64
	Clip          float64
	Accumulate    int
	LossScale     int
	ScaleInterval int
}

// Schedule is the learning rate of each step.
type Schedule struct {
	Steps, Warmup int
	Peak, Floor   float64
}

// Loss is what is made small.
type Loss struct {
	Alpha, Beta float64
	A, B        int
}

// Log is what a run leaves on its way.
type Log struct {
	Validate, Checkpoint, Trace int
	Export                      string
	Sample                      int
	Prompt                      string
	Temperature, TopP           float64
}

// Default returns what holds where nothing is given.
func Default() Config {
	return Config{
		Seed: 1, Device: "cpu", Precision: "f32",
		Data:      Data{Holdout: 0.1, Vocabulary: 256, Window: 256, Widths: []int{}, Batch: 16},
		Model:     Model{Width: 128, Hidden: 256, Kernel: 3, Blocks: 6, Dilation: 32},
		Optimiser: Optimiser{Method: "adamw", Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Decay: 0.01, Clip: 1, Accumulate: 1, LossScale: 1 << 16, ScaleInterval: 2000},
		Schedule:  Schedule{Warmup: 0, Peak: 1e-3, Floor: 0},
		Loss:      Loss{Alpha: 1, Beta: 0, A: 1, B: 1},
		Log:       Log{Validate: 200, Checkpoint: 500, Export: "none", Trace: 10, Sample: 300, Temperature: 0.8, TopP: 0.95},
		places:    map[string]diag.Pos{},
	}
}
