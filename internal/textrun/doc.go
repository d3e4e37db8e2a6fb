// Package textrun opens what the configuration of a training run names: data, tokenizer,
// device and models. The tools that train and that evaluate share it, so that both see the
// same run.
package textrun
