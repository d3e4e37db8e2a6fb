// Bench prints the figures that the project promises, each as a ratio to something
// outside it, measured in the same run:
//
//	go run ./tests/bench                      memcpy
//	go run -tags openblas ./tests/bench       and OpenBLAS
//	go run ./tests/bench peers [FLAG…]        PyTorch and MLX, see package peers
//	go run ./tests/bench models [FLAG…]       training steps, see package models
//	go run ./tests/bench card [-generated]    an NVIDIA card, see package card
//
// scripts/bench.sh installs what the first four compare with.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/kernelgen/kgen/tests/bench/card"
)

func main() {
	name, args := "", os.Args[1:]
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	measured["card"] = card.Main // without C kernels, too
	err := errors.New("no figures of that name: give none, peers, models or card")
	if run := measured[name]; run != nil {
		err = run(args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, strings.TrimSpace("bench "+name)+":", err)
		os.Exit(1)
	}
}
