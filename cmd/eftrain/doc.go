// Command eftrain trains the models for text of package nn/models: an encoder of texts into
// a teacher's vectors, a decoder that predicts text, or both combined. A TOML file and flags
// say what is to be done; eftrain -h says how.
//
// It exits with 0 when the run is complete, with 1 when it failed, with 2 when the
// configuration or the command line is wrong, and with 130 when it was interrupted and has
// left a checkpoint.
package main
