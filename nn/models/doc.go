// Package models holds the models for text, made of the layers of package nn: blocks of
// a temporal convolutional network (TCN), an encoder of texts into vectors, and a decoder
// that predicts text.
//
// Ids and masks come in, vectors or logits go out. Deferred forms record a whole
// forward pass and wait for nothing, so that a training step is one program with one
// Sync. Encode and Generate are for those who only want results. The package knows
// nothing of losses, optimisers, files or tokenizers.
//
// # Masks
//
// A mask [B, L] is 0 where a sequence is padded. Padding comes last: a causal
// convolution then shows none of it to what comes before.
package models
