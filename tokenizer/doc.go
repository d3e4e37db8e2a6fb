// Package tokenizer cuts text into tokens by byte pair encoding over bytes
// (Sennrich, Haddow and Birch, Neural Machine Translation of Rare Words with
// Subword Units, 2016; over bytes as in GPT-2: Radford et al., Language Models are
// Unsupervised Multitask Learners, 2019).
//
// In come text and a size, or a tokenizer.json file; out come ids, and the same
// bytes again for them, whatever bytes they were. It knows nothing of data sets or
// models.
package tokenizer
