// Package bench measures the C kernels of a module. Checked programs and their
// plans come in; sizes for them, and the times, traffic and arithmetic of their
// kernels go out. Since the generator imports nothing that is generated, and no
// runtime, the measuring is done by a program that is built inside the module
// (package program) and spoken to in lines of JSON. This package knows nothing of
// specs or of the command line.
package bench
