package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/train/config"
)

// line is a command line.
type line struct {
	help   bool
	file   string // of the configuration; "" where flags say all
	resume string // folder of a run to be continued; "" for a new one
	flags  []config.Flag
}

// parse reads a command line: one file, and flags before and after it, with one dash or
// two and the value behind "=" or in the next argument.
func parse(args []string) (*line, error) {
	l := &line{}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		name, isFlag := strings.CutPrefix(arg, "-")
		if !isFlag {
			if l.file != "" {
				return nil, fmt.Errorf("%s and %s: one file is the configuration of a run", l.file, arg)
			}
			l.file = arg
			continue
		}
		name, value, given := strings.Cut(strings.TrimPrefix(name, "-"), "=")
		switch {
		case name == "h" || name == "help":
			return &line{help: true}, nil
		case given:
		case isBool(name):
			value = "true"
		case len(args) == 0:
			return nil, fmt.Errorf("flag -%s needs a value", name)
		default:
			value, args = args[0], args[1:]
		}
		if name == "resume" {
			l.resume = value
		} else {
			l.flags = append(l.flags, config.Flag{Name: name, Value: value})
		}
	}
	switch {
	case l.resume != "" && l.file != "":
		return nil, fmt.Errorf("-resume %s goes on with the configuration in that folder: leave %s out", l.resume, l.file)
	case l.resume != "" && slices.ContainsFunc(l.flags, func(f config.Flag) bool { return f.Name == "out" }):
		return nil, fmt.Errorf("-resume %s goes on in that folder: leave -out away", l.resume)
	case l.resume == "" && l.file == "" && len(l.flags) == 0:
		return nil, errors.New("there is neither a configuration nor -resume")
	}
	return l, nil
}

// isBool reports whether a flag needs no value.
func isBool(name string) bool {
	return slices.ContainsFunc(config.Keys(), func(k config.Key) bool { return k.Name == name && k.IsBool() })
}
