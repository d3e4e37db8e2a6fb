package vet

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A way is how a search comes into a block.
type way struct {
	block *ssa.BasicBlock
	first bool // the block is the head of a loop that is entered
}

// enter returns the way from one block to another.
func enter(from, to *ssa.BasicBlock) way {
	loop := loopOf(to)
	return way{to, loop != nil && !loop[from]}
}

// rangeBody marks the body of a loop over the integers below a limit. The limit
// is compared with zero in front of it; of other loops, the head has the
// condition.
const rangeBody = "rangeint.body"

// next returns the blocks that may follow one, in the order of its branches.
// Those that are taken because of an error are nil, and so is the way past a loop
// that is entered: its body is taken to run once at least.
func (w way) next() []*ssa.BasicBlock {
	next := make([]*ssa.BasicBlock, len(w.block.Succs))
	for i, s := range w.block.Succs {
		if !afterError(w.block, i) && !w.past(i) {
			next[i] = s
		}
	}
	return next
}

// past reports whether a branch leads past a loop that is entered.
func (w way) past(branch int) bool {
	to := w.block.Succs[branch]
	if w.first && w.block.Comment != rangeBody {
		return !loopOf(w.block)[to]
	}
	body := w.block.Succs[0]
	return branch == 1 && body.Comment == rangeBody && !loopOf(body)[w.block]
}

// loopOf returns the blocks of the loop that a block is the head of, nil if it is
// none.
func loopOf(head *ssa.BasicBlock) map[*ssa.BasicBlock]bool {
	var work []*ssa.BasicBlock
	for _, pred := range head.Preds {
		if head.Dominates(pred) {
			work = append(work, pred)
		}
	}
	if work == nil {
		return nil
	}
	loop := map[*ssa.BasicBlock]bool{head: true}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if !loop[b] {
			loop[b] = true
			work = append(work, b.Preds...)
		}
	}
	return loop
}

// A point is a place in a function: before an instruction of a block.
type point struct {
	way
	at int
}

// after returns the point behind an instruction.
func after(instr ssa.Instruction) point {
	b := instr.Block()
	return point{way{block: b}, slices.Index(b.Instrs, instr) + 1}
}
