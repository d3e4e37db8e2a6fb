// Package sim proves Metal Shading Language without a Mac. In comes the text of
// a .metal file; out come findings of a check against a stand-in for Apple's
// compiler whose address spaces are real, and the buffers and reports of a run
// in which every GPU thread is a fibre with real barriers and SIMD groups,
// watched by a sanitizer.
//
// The package knows Metal and clang, and nothing of specs, of the compiler's
// intermediate form or of the runtime. docs/metal-subset.md names the part of
// Metal that it checks fully and what it reports as outside of it.
package sim
