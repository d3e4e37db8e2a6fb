package tokenizer

// heap is a binary heap: its first element is before all others.
type heap[T interface{ before(T) bool }] []T

func (h *heap[T]) push(x T) {
	*h = append(*h, x)
	s := *h
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !x.before(s[up]) {
			break
		}
		s[i] = s[up]
		i = up
	}
	s[i] = x
}

// pop removes the first element of a heap that is not empty.
func (h *heap[T]) pop() T {
	s := *h
	top, x := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	i := 0
	for {
		down := 2*i + 1
		if down >= len(s) {
			break
		}
		if down+1 < len(s) && s[down+1].before(s[down]) {
			down++
		}
		if !s[down].before(x) {
			break
		}
		s[i] = s[down]
		i = down
	}
	if len(s) > 0 {
		s[i] = x
	}
	return top
}
