// Package optim trains the parameters of a model: AdamW and SGD with parameter
// groups, clipping by the global norm, gradient accumulation and dynamic loss scaling.
//
// In come parameters and a recorded loss; what goes out is recorded in the batch of the
// loss, and nothing is waited for: whether a step is skipped, and by how much gradients
// are clipped, is decided on the device.
//
//	o, err := optim.New(model.Params(), optim.Config{Method: optim.DefaultAdamW(), MaxNorm: 1})
//	for step := range steps {
//		loss := ...                          // recorded in b
//		report, err := o.Step(b, loss, rate) // recorded too
//		err = b.Sync(ctx)                    // the one wait
//		err = report.Err()
//	}
//
// # A step
//
// The gradients g of the loss give the norm n = √Σg² over all parameters. They are
// multiplied by MaxNorm/n where n is larger than MaxNorm (Pascanu, Mikolov and Bengio,
// On the Difficulty of Training Recurrent Neural Networks, 2013, algorithm 1). A step
// whose norm is not finite is skipped: no weight, no moment and no step count changes,
// to the bit. Report.Err says so.
//
// # Accumulation
//
// Accumulate adds up the gradients of micro-batches, in float32; Step takes the last
// micro-batch. The gradient is that of the sum of their losses, so losses that are means
// are to be multiplied by the micro-batch's share.
//
// # Mixed precision
//
// Layers that compute in 16 bits have float32 masters (nn.Param), which is what a step
// updates; it writes their rounding too, in the same kernel. With Config.Scaling the loss
// is multiplied by a scale before it is differentiated, and the gradients are divided by
// it within the step: the scale is halved at each step that is skipped, and doubled after
// a number of steps that were not (Micikevicius et al., Mixed Precision Training, 2018,
// section 3.2).
//
// # State
//
// State names the tensors that a run needs to be continued, for package checkpoint. A run
// that was continued gives the same bits as one that never stopped.
//
// # Failed batches
//
// If a batch fails or is discarded, the optimiser and its parameters are again what they
// were. Up to two steps may be under way at a time: one that runs and one that is
// recorded. Only accumulated gradients are lost with a batch that fails: call ZeroGrad
// and begin the step anew.
package optim
