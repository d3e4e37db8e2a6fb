// Package report makes one HTML file of what a training run leaves: curves, the
// learning rate, throughput, time by operation, sample texts and the configuration.
//
// In come the records of package metrics, the text of the configuration and the time
// that operations took; out comes a page that needs nothing else: no network, no
// other file. The same input gives the same bytes. It knows nothing of models and
// trainers; what it draws follows from the names in the records:
//
//   - Each value is a chart of its own: "loss", "cosine".
//   - "validation_loss" is drawn into the chart of "loss".
//   - "rate" is the learning rate. What ends in "_per_second" is throughput. They come
//     after the others, and a rate is not smoothed.
//   - The text "phase" says to which of several curves the values of its record
//     belong.
//   - Every other text is a sample: what the model wrote at that step.
//
// The page runs no script but its own: its content security policy has the hashes of
// those, and forbids to load anything. Charts are drawn by uPlot (folder uplot).
package report
