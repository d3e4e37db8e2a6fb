package readme

import (
	"fmt"
	"regexp"
	"strings"
)

// block is a fenced block of code.
type block struct {
	line     int // of its first line
	language string
	file     string // that its first line names; "" when it names none
	text     string
}

var fileComment = regexp.MustCompile(`^(?://|#) ([a-z0-9_./]+\.[a-z]+)$`)

// blocks returns the fenced blocks of a Markdown text.
func blocks(markdown string) ([]block, error) {
	var list []block
	var open *block
	for i, line := range strings.Split(markdown, "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && open == nil:
			open = &block{line: i + 2, language: fence}
		case isFence:
			list, open = append(list, *open), nil
		case open != nil:
			if m := fileComment.FindStringSubmatch(line); m != nil && open.text == "" && open.file == "" {
				open.file = m[1]
			}
			open.text += line + "\n"
		}
	}
	if open != nil {
		return nil, fmt.Errorf("line %d: the block has no end", open.line-1)
	}
	return list, nil
}

// generated reports whether kgen writes the block's file.
func (b *block) generated() bool {
	return strings.HasPrefix(b.file, "generated/") || strings.HasPrefix(b.file, "msl/")
}

// targets returns the targets that the block makes, nil unless it does nothing
// else.
func (b *block) targets() []string {
	var names []string
	for line := range strings.Lines(b.text) {
		command, _, _ := strings.Cut(line, "#")
		words := strings.Fields(command)
		if len(words) != 2 || words[0] != "make" {
			return nil
		}
		names = append(names, words[1])
	}
	return names
}

// checkout returns the commands of a block that runs programs of this repository, nil
// unless it does nothing else.
func (b *block) checkout() []string {
	var commands []string
	for line := range strings.Lines(b.text) {
		command, _, _ := strings.Cut(line, "#")
		command = strings.TrimSpace(command)
		if !strings.HasPrefix(command, "go run ./cmd/") {
			return nil
		}
		commands = append(commands, command)
	}
	return commands
}
