// Package softmetal builds a Metal for Linux: the part of Apple's framework that the
// Metal backend of the runtime uses, in Objective-C, with queues that work on threads of
// their own, complete late, and refuse what Metal's debug layer refuses.
//
// In come tables of Apple's selectors and enumerations, from which the headers are made,
// so that what is not in the framework does not compile; out comes a library that holds
// the backend's bridge, built from the very files that a Mac builds. Kernels are compiled
// from their Metal text by package gen/sim, in a process of its own, and run on the host
// with GPU threads as fibres. The package knows nothing of tensors or specs.
package softmetal
