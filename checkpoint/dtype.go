package checkpoint

import (
	"fmt"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/safetensors"
)

// dtypes has the format's name of each type of the runtime.
var dtypes = [...]safetensors.DType{
	runtime.F32:  safetensors.F32,
	runtime.F16:  safetensors.F16,
	runtime.BF16: safetensors.BF16,
	runtime.I32:  safetensors.I32,
	runtime.U8:   safetensors.U8,
}

func dtype(t runtime.DType) (safetensors.DType, error) {
	if int(t) >= len(dtypes) || dtypes[t] == "" {
		return "", fmt.Errorf("there is no tensor of type %s in a file", t)
	}
	return dtypes[t], nil
}
