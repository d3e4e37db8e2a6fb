// Package grad derives the gradient of a checked program. A Program and the
// names of what to differentiate come in; a Program of the same language goes
// out, made by reverse accumulation over the steps, so that the oracle, the
// planner and every emitter treat it like a spec. It knows no schedule, no
// target and no spec file.
//
// # How it works
//
// Steps are visited from the last to the first. The cotangent of a let is the
// sum of what its readers contribute; a contribution with more axes than the
// tensor is summed over the missing ones, after what does not vary along them
// has been taken out of the sum. Each contribution carries the conditions under
// which it counts, outside of its value: nothing multiplies a masked-out place,
// so an infinity there stays where it is.
//
// # Choices
//
// Where a function has no derivative, or only a one-sided one:
//
//   - abs and sign: the derivative of |x| at 0 is 0.
//   - max(x, y) and min(x, y): at a tie the first operand has it all.
//   - the reductions max and min: the lowest index of the winner has it all, the
//     first NaN if there is one, as argmax and argmin choose. That takes one
//     reduction and no division, needs no count of the ties, and the cotangents
//     sum to exactly the incoming one.
//   - sqrt at 0: 0, a subgradient of the norms it is used for, not +inf.
//   - pow(x, y): the derivative by x is 0 where y is 0; by y, 0 where x is 0 and
//     y is not negative.
//   - where the derivative of exp, tanh, sigmoid or erf has become exactly 0, the
//     cotangent is 0 whatever the infinite factor beside it.
//   - floor, ceil, round and every int or bool value have no derivative; a
//     rounding cast has the derivative 1.
package grad
