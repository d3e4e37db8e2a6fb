package gen

import (
	"strconv"
	"strings"
)

// goMod is what kgen needs to know of a go.mod file.
type goMod struct {
	path    string
	hasTool bool
}

// parseGoMod reads the module and tool lines of a go.mod file, alone or in a
// block. Everything else is left to the go command.
func parseGoMod(data string) goMod {
	var mod goMod
	block := ""
	for line := range strings.Lines(data) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case block != "" && words[0] == ")":
			block = ""
			continue
		case block != "":
			words = append([]string{block}, words...)
		case len(words) >= 2 && words[1] == "(":
			block = words[0]
			continue
		}
		if len(words) < 2 {
			continue
		}
		switch arg := unquote(words[1]); words[0] {
		case "module":
			mod.path = arg
		case "tool":
			mod.hasTool = mod.hasTool || arg == toolPath
		}
	}
	return mod
}

// unquote returns the value of a go.mod string, which may stand in quotes.
func unquote(s string) string {
	if u, err := strconv.Unquote(s); err == nil {
		return u
	}
	return s
}
