package goapi

import (
	"fmt"
	"go/format"
)

// gofmt formats text that this package has put together. Text that is not Go is
// a mistake of this package.
func gofmt(text string) []byte {
	formatted, err := format.Source([]byte(text))
	if err != nil {
		panic(fmt.Sprintf("goapi: generated text is not Go: %v\n%s", err, text))
	}
	return formatted
}
