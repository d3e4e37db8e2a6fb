package tokenizer

// Encode returns the ids of a text.
func (t *Tokenizer) Encode(text string) []int32 {
	return t.AppendEncode(make([]int32, 0, len(text)/3), text)
}

// AppendEncode appends the ids of a text to ids.
func (t *Tokenizer) AppendEncode(ids []int32, text string) []int32 {
	var s scratch
	for len(text) > 0 {
		n := word(text)
		if id, ok := t.whole[text[:n]]; ok {
			ids = append(ids, id)
		} else {
			ids = t.mergeWord(&s, ids, text[:n])
		}
		text = text[n:]
	}
	return ids
}

// scratch is the memory of mergeWord, which words share.
type scratch struct {
	parts []part
	next  heap[candidate]
}

// part is a piece of a word: an id, with the places of the pieces beside it, -1 for
// none.
type part struct{ id, prev, next int32 }

// candidate is a merge that could be done at a place. Lower ranks come first, and of
// one rank the first in the word.
type candidate struct{ rank, at int32 }

func (c candidate) before(d candidate) bool {
	return c.rank < d.rank || c.rank == d.rank && c.at < d.at
}

// mergeWord appends the ids of one word: its bytes, with the first merge that is
// possible done again and again. The time grows with n log n.
func (t *Tokenizer) mergeWord(s *scratch, ids []int32, word string) []int32 {
	s.parts, s.next = s.parts[:0], s.next[:0]
	for i := range len(word) {
		s.parts = append(s.parts, part{latin.id[word[i]], int32(i) - 1, int32(i) + 1})
	}
	s.parts[len(word)-1].next = -1
	for i := range int32(len(word)) - 1 {
		t.consider(s, i)
	}
	for len(s.next) > 0 {
		c := s.next.pop()
		left := &s.parts[c.at]
		m := t.merges[c.rank]
		if left.id != m.left || left.next < 0 || s.parts[left.next].id != m.right {
			continue // one of the two was merged with another
		}
		right := &s.parts[left.next]
		left.id, right.id = m.id, -1
		left.next = right.next
		if left.next >= 0 {
			s.parts[left.next].prev = c.at
			t.consider(s, c.at)
		}
		if left.prev >= 0 {
			t.consider(s, left.prev)
		}
	}
	for i := int32(0); i >= 0; i = s.parts[i].next {
		ids = append(ids, s.parts[i].id)
	}
	return ids
}

// consider adds the merge of the piece at a place with the next one, if there is
// one.
func (t *Tokenizer) consider(s *scratch, at int32) {
	left := s.parts[at]
	if rank, ok := t.ranks[pair{left.id, s.parts[left.next].id}]; ok {
		s.next.push(candidate{rank, at})
	}
}
