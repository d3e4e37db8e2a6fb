// Package program measures calls of ops. The descriptors of a generated package
// come in, and cases as a line of JSON each on standard input; a line of JSON for
// each goes out. kgen bench copies this package into the module that it measures
// and builds it there with the tag kgenbench: the generator, of which it is not a
// part otherwise, must not import a runtime.
package program
