// Package script holds the tests of the kgen and kgenvet command lines: each file
// in testdata is a script that runs them in a small module of its own and reads as
// documentation of one behaviour, exit codes and messages included.
package script
