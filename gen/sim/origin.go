package sim

import (
	"bytes"
	"regexp"
	"slices"
	"sort"
	"strconv"
)

// origin is the place that a #line directive gives to the line after it.
type origin struct {
	from int // the line of the source, from 1, that the directive is about
	file string
	line int // what it is called
}

// origins are those of a source, in order.
type origins []origin

var lineDirective = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*line[ \t]+(\d+)(?:[ \t]+"([^"\n]*)")?[^\n]*$`)

// withoutOrigins blanks the #line directives of a source, so that what clang
// says about it is about its own lines, and returns what they mean.
func withoutOrigins(text []byte) ([]byte, origins) {
	found := lineDirective.FindAllSubmatchIndex(text, -1)
	if found == nil {
		return text, nil
	}
	out := bytes.Clone(text)
	var list origins
	line, at := 1, 0
	for _, m := range found {
		line += bytes.Count(text[at:m[1]], []byte{'\n'})
		at = m[1]
		o := origin{from: line + 1}
		o.line, _ = strconv.Atoi(string(text[m[2]:m[3]]))
		if m[4] >= 0 {
			o.file = string(text[m[4]:m[5]])
		} else if n := len(list); n > 0 {
			o.file = list[n-1].file
		}
		list = append(list, o)
		blankBytes(out[m[0]:m[1]])
	}
	return out, list
}

// of returns what a line is called; file is "" where no directive names one.
func (o origins) of(line int) (file string, named int) {
	i := sort.Search(len(o), func(i int) bool { return o[i].from > line })
	if i == 0 || line == 0 {
		return "", line
	}
	return o[i-1].file, o[i-1].line + line - o[i-1].from
}

// name gives findings the places that the directives name. Of several at one
// place of a text that stands in the source more than once the first remains.
func (o origins) name(list []Finding) []Finding {
	var named []Finding
	for _, f := range list {
		f.File, f.Line = o.of(f.Line)
		same := func(g Finding) bool { return g.File == f.File && g.Line == f.Line && g.Col == f.Col }
		if f.File == "" || !slices.ContainsFunc(named, same) {
			named = append(named, f)
		}
	}
	return named
}

// inFile puts the file that a #line directive names, if any, in front of a
// place.
func inFile(file, place string) string {
	if file == "" {
		return place
	}
	return file + ":" + place
}

// Place returns a finding or report, whose text is given, at its place: in the
// file that a #line directive of the source names, or else in path, the source.
func Place(path, file, text string) string {
	if file != "" {
		return text
	}
	return path + ":" + text
}
