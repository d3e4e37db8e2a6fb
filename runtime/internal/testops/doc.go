// Package testops holds a few operations written by hand in the form of
// generated code, for the tests of the runtime: they need no generator, and each
// shows one thing that a generated operation may do (gradients, in-place
// updates, faults, workspace, axes that the caller gives).
package testops
