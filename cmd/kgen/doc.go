// Command kgen generates Go packages, C and CUDA sources and Metal shaders from kernel
// specs. It reads the command line, calls package gen and prints what comes
// back; it imports neither generated packages nor the runtime, so that a broken
// output never blocks its regeneration.
//
// Every command exits with 0 when all is well, with 1 when it found something
// (mistakes in specs, files that are out of date), and with 2 when it could not
// run.
package main
