package golden

// Vector is a tensor of one dimension.
func Vector(v ...float64) Tensor { return Tensor{Shape: []int{len(v)}, Data: v} }

// Number is a tensor of no dimension.
func Number(v float64) Tensor { return Tensor{Shape: []int{}, Data: Floats{v}} }

// Constant is a tensor of one value.
func Constant(v float64, shape ...int) Tensor {
	t := Tensor{Shape: shape}
	t.Data = make(Floats, t.Len())
	for i := range t.Data {
		t.Data[i] = v
	}
	return t
}

// Matrix is a tensor of rows, which are equally long.
func Matrix(rows ...[]float64) Tensor {
	t := Tensor{Shape: []int{len(rows), len(rows[0])}}
	for _, r := range rows {
		t.Data = append(t.Data, r...)
	}
	return t
}

// Spaced are the numbers from first to last in steps.
func Spaced(first, last, step float64) []float64 {
	var v []float64
	for x := first; x <= last; x += step {
		v = append(v, x)
	}
	return v
}
