// Package checkpoint saves tensors of the runtime to safetensors files and loads
// them again, by name.
//
// In come devices' tensors, weights and the state of an optimiser alike, and
// strings for what is not a tensor; out comes a file that is whole at any time,
// or tensors that hold what the file does. It knows nothing of models: the names
// are the caller's.
package checkpoint
