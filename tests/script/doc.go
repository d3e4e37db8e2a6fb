// Package script holds the tests of the kgen command line: each file in
// testdata is a script that runs kgen in a small module of its own and reads as
// documentation of one behaviour, exit codes and messages included.
package script
