// Package vet holds analyzers that find wrong uses of package runtime before
// the program runs: a read-back that is taken too early, a deferred call whose
// result nobody uses, a batch that is dropped with work recorded in it, a device
// or tensor that is never closed. Command kgenvet runs them.
//
// In come the syntax and types of one package, and what is known of the
// functions of the packages that it imports; out come findings. The package
// knows the API of runtime by name (api.go) and imports nothing of this module.
//
// Each function is summed up first (summaries): what it does with its
// arguments, and whether it can run a batch. A value that goes where it cannot
// be followed, into a struct, a channel or a function that is not known, is
// somebody else's from there on, and a rule says nothing about it. Branches that
// are taken because of an error are not followed either.
package vet
