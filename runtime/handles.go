package runtime

// Handles returns the handles of a list of tensors, as an operation with list
// inputs hands them to Immediate and to Finish.
func Handles[T Element](list []Tensor[T]) []Handle {
	handles := make([]Handle, len(list))
	for i, t := range list {
		handles[i] = t.h
	}
	return handles
}
