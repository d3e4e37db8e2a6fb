// Package tools holds the tests of the command lines of eftrain and eftexteval: each file
// in testdata is a script that runs them on real data and reads as documentation of one
// behaviour, exit codes and messages included.
package tools
