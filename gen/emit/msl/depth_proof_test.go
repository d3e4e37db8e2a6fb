//go:build proof

package msl_test

// See depth_test.go.
const (
	operatorStep = 1
	everyLayout  = true
)
