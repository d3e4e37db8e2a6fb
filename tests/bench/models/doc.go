// Package models times training steps of the models of package nn beside the same steps
// in PyTorch, in turns, in one run:
//
//	scripts/bench.sh models
//
// A step is the forward pass, the loss, the gradients of all weights, a step of AdamW on
// each, and the loss on the host; everything is in float32. models.py starts from our
// weights, and the losses of the first steps must agree: both compute the same.
//
// The machine must be quiet: where threads share processors with other work, PyTorch's
// wait for each other at every kernel, and a ratio says nothing. With -threads 1 it still
// says something.
//
// With -trace it prints where the time of our step goes.
package models
