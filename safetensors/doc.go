// Package safetensors reads and writes the safetensors format: named tensors of
// plain bytes behind a header of JSON (docs/formats.md).
//
// In come files, mapped and not copied, or bytes; out come names, types, shapes
// and the bytes of each tensor, checked so that none lies outside of the file or
// on another. It knows nothing of devices: package checkpoint brings tensors of
// the runtime to and from files.
package safetensors
