package readme

import (
	"fmt"
	"strings"

	"golang.org/x/tools/txtar"
)

// script is the README as a test script.
type script struct {
	commands strings.Builder
	archive  txtar.Archive
	targets  []string // of the Makefile, which the script does not make
	checkout []string // commands that are typed in a checkout, which the script does not run

	steps, printed strings.Builder // of the tour
}

// newScript turns blocks into a script.
func newScript(list []block) (*script, error) {
	s := &script{}
	last := ""
	for _, b := range list {
		if err := s.add(&b, last); err != nil {
			return nil, fmt.Errorf("README.md:%d: %w", b.line, err)
		}
		last = b.language
		if b.file != "" {
			last = ""
		}
	}
	s.tour()
	s.commands.WriteString(epilogue)
	s.archive.Comment = []byte(s.commands.String())
	return s, nil
}

// add adds a block that follows one in the language last; "" stands for a file.
func (s *script) add(b *block, last string) error {
	name := fmt.Sprintf("blocks/%d", b.line)
	switch {
	case b.language == "sh" && b.targets() != nil:
		s.targets = append(s.targets, b.targets()...)
		return nil
	case b.language == "sh" && b.checkout() != nil:
		s.checkout = append(s.checkout, b.checkout()...)
		return nil
	case b.language == "sh":
		s.command(b, "exec sh -e %s", name)
		s.file(name, fromSource(b.text))
		return nil
	case b.file != "" && b.generated():
		s.command(b, "excerpt %s %s", name, b.file)
	case b.file != "":
		s.command(b, "file %s %s", name, b.file)
	case b.language == "go":
		s.steps.WriteString(b.text)
		return nil
	case b.language == "text" && last == "sh":
		s.command(b, "cmp stdout %s", name)
	case b.language == "text" && last == "go":
		s.printed.WriteString(b.text)
		return nil
	default:
		return fmt.Errorf("no test reads a block of %q after one of %q", b.language, last)
	}
	s.file(name, b.text)
	return nil
}

func (s *script) command(b *block, format string, args ...any) {
	fmt.Fprintf(&s.commands, "\n# README.md:%d\n"+format+"\n", append([]any{b.line}, args...)...)
}

func (s *script) file(name, text string) {
	s.archive.Files = append(s.archive.Files, txtar.File{Name: name, Data: []byte(text)})
}

// fromSource has a new module take kgen from the source tree.
func fromSource(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(line)
		if strings.HasPrefix(line, "go mod init ") {
			b.WriteString("go mod edit -replace \"github.com/kernelgen/kgen=$KGEN_ROOT\"\n")
		}
	}
	return b.String()
}

// tour adds the steps of the tour as a program.
func (s *script) tour() {
	s.commands.WriteString("\n# The steps of the tour.\nexec gofmt -l tour\n! stdout .\nexec go run ./tour\nprints blocks/tour\n")
	var steps strings.Builder
	for line := range strings.Lines(s.steps.String()) {
		if line != "\n" {
			steps.WriteString("\t")
		}
		steps.WriteString(line)
	}
	s.file("tour/main.go", tourHead+steps.String()+tourTail)
	s.file("blocks/tour", s.printed.String())
}

const tourHead = `package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"example.com/mymodel/generated/ops"
	kgen "github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/graph"
	"github.com/kernelgen/kgen/runtime"
)

func main() {
	dev, err := runtime.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	if err := tour(context.Background(), dev); err != nil {
		log.Fatal(err)
	}
}

func tour(ctx context.Context, dev *runtime.Device) error {
`

const tourTail = `	return nil
}
`

// epilogue sees the exit codes that the README lists.
const epilogue = `
# The exit codes.
exec sh -c 'go tool kgen check; test $? = 0'
rm msl/act/swish.metal
exec sh -c 'go tool kgen check; test $? = 1'
stdout '^missing  msl/act/swish.metal$'
exec go tool kgen generate
cp specs/loss/huber.toml huber.toml
exec perl -pi -e 's/x\*x/x*z/' specs/loss/huber.toml
exec sh -c 'go tool kgen check; test $? = 1'
stderr '^specs/loss/huber.toml:[0-9]+:[0-9]+: '
mv huber.toml specs/loss/huber.toml
mv specs elsewhere
exec sh -c 'go tool kgen check; test $? = 2'
`
