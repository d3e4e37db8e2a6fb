//go:build !cgo || (!darwin && !(softmetal && linux))

package runtime_test

// metals is the GPU that Metal knows and that the tests run on as well: on a Mac, and with
// the tag softmetal, there is one.
var metals []gpu
