//go:build darwin && cgo

package metal

/*
#cgo CFLAGS: -O2 -std=gnu11 -Wall -Wextra -fblocks
#cgo LDFLAGS: -framework Foundation -framework Metal -framework CoreGraphics
*/
import "C"
