// Package diag holds source positions and the diagnostics that kgen reports
// about specs. It takes positions and messages and renders them, sorted, with
// the offending line and a caret. It knows nothing of TOML or of the spec
// language.
package diag
