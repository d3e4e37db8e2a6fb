// Package graph gives lazy tensors: generated functions that are called with them
// compute nothing, and Eval runs what one result needs as one program.
//
//	exec, err := graph.Open(func() (*runtime.Device, error) { return runtime.Open() })
//	g := graph.New(exec, "forward")
//	x, err := graph.From(g, data, 32, 256)
//	y, err := ops.GELU(x)           // recorded; the error is that of the shapes
//	values, err := graph.Eval(ctx, y)
//	g.Close()
//
// A lazy tensor is a runtime.Tensor whose device is a graph, so both forms of every
// generated function take it: the immediate form returns the error of the one call,
// the deferred form records in Graph.Batch and leaves the first error to Eval. A tensor of a real device may stand beside lazy ones; it is read when the
// graph is evaluated. Operations that update a tensor in place are refused: the values
// of a graph do not change.
//
// An Executor runs graphs on a device. With a Model it sends each evaluation to that
// device or to the CPU, whichever will be done first, and with a Policy it goes on
// where the device cannot: it is opened again, or the CPU takes over. Neither is on
// by default, and each such event is counted and logged.
package graph
