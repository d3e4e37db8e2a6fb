//go:build proof

package msl_test

// See depth_test.go.
const (
	operatorStep = 1
	everyLayout  = true
)

var largestProduct = call{axes: ax{"Z": {}, "M": {130}, "N": {67}, "K": {41}}, terms: 90}
