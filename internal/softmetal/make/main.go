// Make builds the software Metal for the tests that are built with the tag softmetal:
//
//	go run ./internal/softmetal/make
package main

import (
	"fmt"
	"os"

	"github.com/kernelgen/kgen/internal/softmetal"
)

func main() {
	err := softmetal.Build(softmetal.Options{Root: ".", Dir: "build/softmetal"})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
