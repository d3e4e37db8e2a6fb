// Package dataset reads samples for training from files and puts them into batches.
//
// In come EFB1 files, JSONL files and text (docs/formats.md); out come batches of
// ids, masks and targets, padded to few widths, in an order that a seed fixes and
// that can be continued where it was left. Files are mapped and samples are read
// when they are used. It knows nothing of devices and models; how text becomes ids
// is the caller's.
package dataset
