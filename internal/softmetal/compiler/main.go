// Compiler makes a shared library of a Metal source, as a service of the software
// Metal: Apple's compiles in a process of its own, too. It reads the source from
// standard input and prints the path of the library, or exits with status 1 and prints
// what is wrong with the source.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/kernelgen/kgen/gen/sim"
)

func main() {
	dir := flag.String("dir", "", "folder of the libraries, which may be shared")
	asan := flag.Bool("asan", false, "for a process that is built with AddressSanitizer")
	flag.Parse()
	san := sim.Trace
	if *asan {
		san |= sim.Address
	}
	source, err := io.ReadAll(os.Stdin)
	if err == nil {
		var path string
		if path, err = sim.Library(context.Background(), *dir, "program_source", source, san); err == nil {
			fmt.Print(path)
			return
		}
	}
	fmt.Print(err)
	os.Exit(1)
}
