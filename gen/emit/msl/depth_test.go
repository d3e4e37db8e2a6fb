//go:build !proof

package msl_test

// make proof exchanges every operator and runs products of all layouts.
const (
	operatorStep = 19
	everyLayout  = false
)

// largestProduct has whole tiles and more in each direction; that of make proof three.
var largestProduct = call{axes: ax{"Z": {}, "M": {66}, "N": {67}, "K": {41}}, terms: 90}
