// Package tomltree reads TOML into a tree in which every key and every value knows its
// place in the file, down to the byte inside a string. Syntax errors are diagnostics of
// package diag. It knows nothing of what keys mean.
package tomltree
