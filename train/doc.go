// Package train trains the models of nn/models: an encoder by distillation, a decoder by
// the cross entropy of its next id, and both in turn.
//
// In come models, micro-batches (package dataset), and what an optimiser is to do
// (train/optim, train/schedule); out come trained weights, metrics (train/metrics) and
// checkpoints from which a run goes on as if it had never stopped. The package knows
// nothing of files of samples, of tokenizers and of the command line.
//
//	t, err := train.NewDecoderTrainer(model, train.CE{
//		Data:  windows,
//		Optim: optim.Config{Method: optim.DefaultAdamW(), Groups: train.Groups(0.01), MaxNorm: 1},
//	}, train.Config{Schedule: schedule.Cosine{Peak: 3e-3, Warmup: 100, Steps: 2000}})
//	err = t.Run(ctx, train.Session{Progress: os.Stderr, Checkpoint: "run.safetensors", Every: 500})
//
// # A step
//
// A trainer gives the loss of a micro-batch, Trainer does the rest. A step reads its
// micro-batches first, so that the loss of each weighs as much as it has terms: rows in
// distillation, ids that are not padding in prediction. A step of several micro-batches
// is therefore the step of one large batch. Each micro-batch is one program with one
// wait; the last one has the optimiser's step in it.
//
// # Phases
//
// CombinedTrainer takes A steps of distillation on the encoder and B steps of prediction
// on the decoder, in turn. The models share their last block, which both phases train.
// Each phase has an optimiser of its own over all that its loss depends on: so the shared
// block has one set of weights and two sets of moments, each the statistics of one loss
// alone. Gradients of the two differ in size by orders, and a common second moment would
// scale the steps of one by the gradients of the other. Moments rest, without decay, while
// the other phase runs. Step counts, clipping and loss scales are a phase's own too; the
// learning rate follows one schedule.
//
// # Mixed precision
//
// A model of 16 bits trains with float32 masters, and with optim.Config.Scaling a step
// whose gradients overflow changes nothing but the scale.
//
// # Checkpoints
//
// A checkpoint is a safetensors file with the weights, under encoder and decoder, what
// the optimisers keep, under optim, and as metadata the step, the position in the data
// and that of each dropout. A run that is resumed gives the same bits as one that never
// stopped: steps are whole in a checkpoint, and what a step does depends on nothing but
// this state, the seeds and the configuration.
package train
