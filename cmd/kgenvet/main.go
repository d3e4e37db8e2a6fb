// Kgenvet finds wrong uses of package runtime before the program runs:
//
//	go vet -vettool=$(which kgenvet) ./...
//	kgenvet ./...
//
// `kgenvet help` lists the rules, `kgenvet help RULE` says more about one.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/kernelgen/kgen/vet"
)

func main() { multichecker.Main(vet.Analyzers...) }
