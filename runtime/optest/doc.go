// Package optest tests generated operations. A descriptor comes in; the test
// fails where the default device and the reference device disagree about any of
// its variants, or where its gradient is not the slope of the operation. It
// knows no operation by name: shapes and arguments are made from the
// descriptor, the same ones at each run.
package optest
