// Package rules holds what the kernels must give where plain formulas go wrong:
// for infinities, NaN, masks, empty tensors, rows without variance, and at the
// ends of the range. Each rule is a list of calls with the results and gradients
// that they must have; every way of running kernels has a test that goes through
// them. It knows nothing of devices.
package rules
