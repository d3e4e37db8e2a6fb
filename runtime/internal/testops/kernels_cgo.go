//go:build cgo

package testops

/*
#cgo CFLAGS: -O2 -Wall -Wextra
#include "kernels.h"
*/
import "C"

import "unsafe"

// kernel returns the C function of a kernel.
func kernel(symbol string) unsafe.Pointer {
	switch symbol {
	case "kt_add":
		return C.kt_add
	case "kt_copy":
		return C.kt_copy
	case "kt_overrun":
		return C.kt_overrun
	case "kt_mul":
		return C.kt_mul
	case "kt_scale":
		return C.kt_scale
	case "kt_fill":
		return C.kt_fill
	case "kt_spread":
		return C.kt_spread
	case "kt_sgd":
		return C.kt_sgd
	case "kt_partial_sum":
		return C.kt_partial_sum
	case "kt_final_sum":
		return C.kt_final_sum
	case "kt_embedding":
		return C.kt_embedding
	case "kt_embedding_grad":
		return C.kt_embedding_grad
	case "kt_where":
		return C.kt_where
	}
	return nil
}
