// Bench prints the figures that the project promises, each as a ratio to
// something outside it, measured in the same run:
//
//	go run ./tests/bench
//	go run -tags openblas ./tests/bench     also against OpenBLAS
package main
