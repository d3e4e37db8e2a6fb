//go:build cgo && !openblas

package main

const haveBLAS = false

func blasKernel() string { return "" }

func blasSeconds(int) float64 { return 0 }
