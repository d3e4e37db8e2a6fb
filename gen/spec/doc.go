// Package spec loads spec files. It takes TOML bytes and gives plain structs
// in which every name and every value knows its place in the file, down to the
// byte inside a string; it reports unknown, missing and mistyped keys of all
// files at once. It does not parse the expressions inside the strings and knows
// nothing of axes, kinds or kernels.
package spec
