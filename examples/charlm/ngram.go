package main

import "math"

// ngram is a model of character counts: it predicts from the last order-1
// characters, mixing each order with the next lower one by how many different
// characters have followed the same history (Witten and Bell, 1991, method C).
type ngram struct {
	order  int
	vocab  float64
	counts []map[string]float64 // for each history length: of history and character
	totals []map[string]float64 // of the history
	kinds  []map[string]float64 // different characters seen after it
}

// countNgrams counts the text.
func countNgrams(text []int32, vocab, order int) *ngram {
	m := &ngram{order: order, vocab: float64(vocab)}
	for n := range order {
		counts, totals, kinds := map[string]float64{}, map[string]float64{}, map[string]float64{}
		for i := n; i < len(text); i++ {
			history, gram := key(text[i-n:i]), key(text[i-n:i+1])
			if counts[gram] == 0 {
				kinds[history]++
			}
			counts[gram]++
			totals[history]++
		}
		m.counts, m.totals, m.kinds = append(m.counts, counts), append(m.totals, totals), append(m.kinds, kinds)
	}
	return m
}

// key packs ids into a string that can be looked up.
func key(ids []int32) string {
	b := make([]byte, 0, 16)
	for _, id := range ids {
		b = append(b, byte(id), byte(id>>8))
	}
	return string(b)
}

// probability of the last of ids after the ones before it.
func (m *ngram) probability(ids []int32) float64 {
	if len(ids) == 0 {
		return 1 / m.vocab
	}
	n := len(ids) - 1
	lower := 1 / m.vocab
	if n > 0 {
		lower = m.probability(ids[1:])
	}
	history := key(ids[:n])
	total, kinds := m.totals[n][history], m.kinds[n][history]
	if total == 0 {
		return lower
	}
	return (m.counts[n][key(ids)] + kinds*lower) / (total + kinds)
}

// loss is the mean negative log-likelihood of text, in nats per character.
func (m *ngram) loss(text []int32) float64 {
	sum := 0.0
	for i := range text {
		sum -= math.Log(m.probability(text[max(0, i+1-m.order) : i+1]))
	}
	return sum / float64(len(text))
}
