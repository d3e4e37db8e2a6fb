// Package simrun runs the Metal kernels of a bound op on the simulated GPU of
// package sim and compares what they give with the oracle. A bound op and the
// text of its Metal source come in; reports and differences go out. It knows
// how a host binds and launches kernels, and nothing of specs or files.
package simrun
