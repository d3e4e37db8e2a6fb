// Package nn tests the layers and models of package nn: forward passes and gradients
// against values of PyTorch (golden/make.py), in each type and on each device of this
// machine; that both forms of a function agree; how often a training step waits; that
// every parameter learns; and that generation gives what the whole context gives.
package nn
