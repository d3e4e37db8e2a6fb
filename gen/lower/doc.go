// Package lower is what the two lowerings share: it turns checked expressions
// into IR values inside nested scopes, emitting each value once, in the
// outermost scope that has all it depends on. It takes expressions of a planned
// kernel and gives IR; it knows neither how loops are arranged (gen/lower/vec,
// gen/lower/simt) nor any target language.
package lower
