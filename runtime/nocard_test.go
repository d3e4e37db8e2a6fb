//go:build !(cudatest && linux && cgo)

package runtime_test

// cards is the card that the tests run on as well: with the tag cudatest there is one.
var cards []gpu
