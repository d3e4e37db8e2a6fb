// Package oracle runs a checked program in float64, naively: one loop over the
// axes of each step, in order. An expr.Program, the inputs, the parameters and
// the extents that the caller chooses come in; the outputs come out, or an
// error that names the op, the tensor and the sizes.
//
// It is what every backend is compared with, so it reads the checked
// expression alone and knows nothing of plans, kernels or targets.
package oracle
