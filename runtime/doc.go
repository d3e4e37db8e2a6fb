// Package runtime runs generated kernels: it owns the device, its memory and
// the order of work.
//
// In come immutable kernel descriptors (Op) and host data; out come tensors,
// read-backs and errors. Generated functions record calls in a Batch; Sync
// plans the recorded program, hands it to the backend in one call and waits.
// The package knows nothing of specs or of the generator.
//
// # Life of a tensor
//
// A Tensor is a small handle, checked against a generation at every use. It is
// resident (FromSlice, Zeros, a result after its batch is done) or pending (a
// result of a deferred call). A pending tensor may be used in later calls of
// its own batch at once. When the batch is done, results that were kept with
// Batch.Keep are resident; all others are recycled and their handles are stale.
// Resident tensors live until Close.
//
// An operation that updates a tensor in place gives it a new version; the old
// handle is an error from then on. The new version of a resident tensor is kept
// by itself. If the batch fails, nothing of it counts: the old handle is valid
// again, with the old values, and the new one is stale.
//
// # Batches
//
// A Batch is for one goroutine at a time; different batches may be recorded
// and run from different goroutines. After Sync or Submit the same Batch
// records the next program. Programs of one device run one after another in
// the order of their submission, so a kept result of a submitted batch may be
// used in the next batch before it is computed. Every batch that has recorded
// something ends with Sync, Submit or Discard.
package runtime
