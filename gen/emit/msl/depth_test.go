//go:build !proof

package msl_test

// make proof exchanges every operator and runs products of all layouts.
const (
	operatorStep = 13
	everyLayout  = false
)
