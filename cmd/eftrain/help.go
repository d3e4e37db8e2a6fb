package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/kernelgen/kgen/train/config"
)

const usage = `eftrain trains a model for text: a decoder that predicts what comes next, an encoder
that gives texts the vectors of a teacher, or both combined.

    eftrain FILE [-KEY VALUE ...]        begin the run that a TOML file describes
    eftrain -resume FOLDER               go on with a run that was stopped

A configuration that works in a checkout of this repository:

    kind = "decoder"
    out  = "runs/first"

    [data]
    train = "data/moby-dick.txt"    # the last tenth is held out

    [schedule]
    steps = 300
    peak  = 3e-3

Save it as first.toml, and run

    eftrain first.toml
    eftexteval runs/first

The run leaves in its folder: report.html (curves, samples of text, where the time
goes; open it in a browser), metrics.jsonl (the same numbers, a line for each step),
checkpoint.safetensors (weights and all that a continued run needs), config.toml (every
value that held) and tokenizer.json. Ctrl-C ends a run after the step under way, with a
checkpoint; a continued run gives the same weights, to the bit, as one that never
stopped.

Paths are relative to the folder that eftrain is started in. Every key can be given in
the file, under its [table], or as a flag, which wins over the file:

    eftrain first.toml -steps 1000 -out runs/longer -device cuda
`

// writeHelp explains the command.
func writeHelp(w io.Writer) {
	fmt.Fprint(w, usage)
	for _, t := range config.Tables {
		name := ""
		if t.Name != "" {
			name = " [" + t.Name + "]"
		}
		fmt.Fprintf(w, "\n%s%s\n", t.Doc, name)
		for _, k := range config.Keys() {
			if k.Table == t.Name {
				writeKey(w, k)
			}
		}
	}
	fmt.Fprint(w, "\nExit codes: 0 the run is complete, 1 it failed, 2 the configuration is wrong,\n130 it was interrupted and can go on.\n")
}

// writeKey explains a key.
func writeKey(w io.Writer, k config.Key) {
	fmt.Fprintf(w, "  %s  %s", k.Name, k.Domain())
	switch d := k.Default(); d {
	case "":
		fmt.Fprint(w, ", must be given")
	case `""`, "[]":
	default:
		fmt.Fprintf(w, ", else %s", strings.Trim(d, `"`))
	}
	if k.Kinds != nil {
		fmt.Fprintf(w, " (%s)", strings.Join(k.Kinds, ", "))
	}
	fmt.Fprintln(w)
	for _, l := range wrap(k.Doc, 80) {
		fmt.Fprintf(w, "        %s\n", l)
	}
}

// wrap breaks a text into lines of at most width bytes.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
