// Package readme runs the README: its code blocks become a script that types
// what a reader would type, in a folder of its own, and compares what comes out.
//
// A block whose first line is a comment with a file name is that file; where
// kgen writes the file, it is an excerpt of it. A block of text is what the
// commands before it print. A block of go run ./cmd/… is typed in a checkout. Go
// without a file name is a step of the tour: the steps are the body of one function.
package readme
