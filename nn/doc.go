// Package nn holds the layers of neural networks, made of generated functions
// alone.
//
// Tensors come in and go out; between them a layer records calls in a
// runtime.Batch, which is also the tape: runtime.Batch.Grad differentiates what
// was recorded. The package knows nothing of losses, optimisers or files.
//
//	dev, err := runtime.Open()
//	r := nn.NewRand(1)
//	l, err := nn.NewLinear[float32](dev, r, 256, 10)
//	y, err := l.Forward(x)           // immediate: runs now
//	y := l.ForwardDeferred(b, x)     // deferred: recorded in b
//
// # Types
//
// A layer is typed by what it computes in: float32, runtime.Float16 or
// runtime.BFloat16. Its parameters are kept in float32, the masters that an
// optimiser updates. A layer of 16 bits reads packed weights, their rounding, made
// once for each version of the master and kept (see Param).
//
// # Shapes
//
// The last axis holds channels: sequences are [B, L, C], batch, positions,
// channels. Weights are [out, in], those of convolutions [out, in, taps].
//
// # Waiting
//
// Deferred forms wait for nothing. Where a packed weight has to be made anew, its
// program is submitted, and the batch's comes after it.
package nn
