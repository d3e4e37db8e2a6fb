// Package catalogue tests that the shipped specs are the kernels of the
// catalogue, by their exact names: names.txt lists them, `kgen list` what the
// specs give.
package catalogue
