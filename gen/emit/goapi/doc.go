// Package goapi writes the Go side of a kernel: the descriptor that the runtime
// consumes, the typed immediate and deferred functions, the tables of C
// function pointers and the generated tests. It takes bound ops and gives Go
// source; it decides nothing about kernels and touches no disk.
package goapi
