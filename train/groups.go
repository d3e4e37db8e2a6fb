package train

import "github.com/kernelgen/kgen/train/optim"

// Groups are parameter groups for the models of nn/models: weights and embeddings have
// weight decay, biases and normalisations have none.
func Groups(decay float32) []optim.Group {
	return []optim.Group{
		{Names: []string{"*.bias", "*.norm.weight"}, Rate: 1},
		{Names: []string{"*"}, Rate: 1, WeightDecay: decay},
	}
}
