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
//
// # Errors
//
// Deferred calls return no error. A batch holds the first one, with the name of
// the operation, the call site and the sizes; calls after it do nothing, and
// Sync returns it. A kernel that finds a bad value, such as an id outside its
// table, ends the program: nothing after it runs, and what commands before it
// had updated in place is put back from a copy. (The copy is made only where an
// update comes before a kernel that reads integers, so a usual training step
// pays nothing.) Programs that use results of a failed one fail as well, also
// when they were submitted before. If the device itself fails, or a program takes
// longer than WithDeadline allows, everything later fails at once.
//
// # Memory
//
// Inside a program results share one arena by liveness; kept results and
// resident tensors have blocks of their own. All of it comes from a pool with
// size classes (WithPoolCap, Device.Trim, Device.Stats). A program of the same
// structure (operations, shapes, types, static choices, pattern of arguments,
// kept results) is planned once; values of scalars are not part of it, but which
// calls that are otherwise the same have equal ones.
//
// Planning begins with passes that rewrite the program: calls that nobody reads
// are dropped, equal ones become one, a fused kernel does the work of a sequence.
// The values of a program then share memory; a result lies where an operand did that
// nothing uses later, if the kernel reads that only where it writes.
// Batch.Explain shows what became of a recorded program; WithoutPasses turns passes
// off.
//
// A tensor and its views share memory: an in-place operation on one shows in
// the others. Inputs of an in-place call that overlap what it updates are
// copied first, so they are read as they were; two updates of the same memory in
// one call are refused. A batch whose recorded input is overwritten from outside
// before it is submitted fails.
//
// # Cards
//
// Open(CUDA(0)) opens an NVIDIA card, Open(Metal(0)) a GPU of a Mac. Everything above
// holds there too; a tensor's memory is the device's, which FromSlice, Read and Write
// copy to and from. The first program that uses a kernel waits for its compilation; on
// an NVIDIA card unless an earlier process has left it in the user's cache.
//
// # Cost
//
// Recording a call takes some 300 ns and allocates nothing. Sync with a context
// that cannot end is a single call of C, on the calling thread; with one that can,
// or with WithDeadline, the device's own thread runs the program and a goroutine
// waits for it. Device.StartTrace shows where the time goes. Results do not depend
// on the number of workers.
package runtime
