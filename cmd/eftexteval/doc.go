// Command eftexteval measures a model that eftrain has trained, on what its run held out or
// on another file: how near its vectors are to the teacher's and whether they find the right
// one, how well it predicts text, and how long the samples are.
//
// It exits with 0 when it has measured, with 1 when it could not, and with 2 when the
// command line is wrong.
package main
