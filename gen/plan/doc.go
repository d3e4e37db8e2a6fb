// Package plan turns the steps of a checked Program into a short sequence of
// kernels. It inlines steps without a reduction into their readers, groups
// reductions that share their axes, recognises matrix products and scatters,
// and puts a workspace between kernels where neighbours do not fit one launch.
// It knows nothing of targets: how a kernel becomes loops is the business of
// gen/lower.
package plan
