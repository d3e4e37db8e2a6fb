//go:build !(cudatest && linux && cgo)

package runtime_test

import (
	"testing"
	"time"

	"github.com/kernelgen/kgen/runtime"
)

// cards are the options of the card that the tests run on as well: with the tag
// cudatest there is one.
var cards [][]runtime.Option

func openCardDouble(testing.TB, time.Duration, ...runtime.Option) (*runtime.Device, *double) {
	panic("there is no card")
}
