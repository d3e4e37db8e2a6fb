// Package config reads what a training run is to be: a TOML file and flags that win
// over it.
//
// In come the text of a file and flags as they were typed; out comes a Config in which
// every value has been checked, or diagnostics that say of every mistake where it
// stands. The keys are a table (keys.go), of which the reader, the flags, the help and
// the text of a whole configuration are made. The package opens no file that a
// configuration names and knows nothing of devices and models.
package config
