package vet

import "golang.org/x/tools/go/analysis"

// Analyzers are all of the rules.
var Analyzers = []*analysis.Analyzer{DeadCall, EarlyValue, LostBatch, Unclosed}
