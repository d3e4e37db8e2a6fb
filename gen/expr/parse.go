package expr

import (
	"fmt"
	"go/scanner"
	"go/token"
	"strconv"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/spec"
)

// The limits of one expression. What is deeper or longer would exceed the
// bracket nesting that C compilers accept.
const (
	maxHeight = 200
	maxNodes  = 4096
)

// parser is a precedence parser over the tokens of go/scanner.
type parser struct {
	text spec.Text
	scan scanner.Scanner
	file *token.File
	tok  token.Token
	lit  string
	off  int

	second token.Token // the rest of a token that is two here; ILLEGAL if none

	depth int
	nodes int
	err   *diag.Diagnostic
}

// parseExpr parses one expression. It reports the first mistake only.
func parseExpr(text spec.Text) (ast, *diag.Diagnostic) {
	p := &parser{text: text}
	p.file = token.NewFileSet().AddFile("", -1, len(text.Value))
	p.scan.Init(p.file, []byte(text.Value), func(pos token.Position, msg string) {
		p.fail(pos.Offset, "", "%s", msg)
	}, 0)
	p.next()
	if p.tok == token.EOF {
		p.fail(p.off, "", "the expression is empty")
	}
	a := p.binary(1)
	if p.err == nil && p.tok != token.EOF {
		p.unexpected("after the expression")
	}
	if p.err != nil {
		return nil, p.err
	}
	return a, nil
}

// next reads a token. The semicolons that the Go scanner puts at line ends are
// blanks here, and <-, ++ and -- are two operators each, as in x<-1.
func (p *parser) next() {
	if p.second != token.ILLEGAL {
		p.tok, p.second = p.second, token.ILLEGAL
		p.off++
		return
	}
	for {
		pos, tok, lit := p.scan.Scan()
		p.off, p.tok, p.lit = p.file.Offset(pos), tok, lit
		switch {
		case tok == token.ARROW:
			p.tok, p.second = token.LSS, token.SUB
		case tok == token.INC:
			p.tok, p.second = token.ADD, token.ADD
		case tok == token.DEC:
			p.tok, p.second = token.SUB, token.SUB
		case tok == token.SEMICOLON && lit != ";":
			continue
		}
		return
	}
}

func (p *parser) fail(off int, hint, format string, args ...any) {
	if p.err == nil {
		off = min(off, len(p.text.Value))
		p.err = &diag.Diagnostic{Pos: p.text.At(off), Msg: fmt.Sprintf(format, args...), Hint: hint}
	}
}

func (p *parser) unexpected(where string) {
	what := p.tok.String()
	switch {
	case p.tok == token.EOF:
		p.fail(p.off, "", "the expression ends %s", where)
	case p.lit != "":
		what = strconv.Quote(p.lit)
	default:
		what = strconv.Quote(what)
	}
	hint := ""
	switch p.tok {
	case token.ASSIGN:
		hint = "comparison is =="
	case token.AND_NOT:
		hint = "a &^ b is a & (b ^ -1)"
	}
	p.fail(p.off, hint, "unexpected %s %s", what, where)
}

// node counts a node and makes the part that all share.
func (p *parser) node(off int, kids ...ast) astNode {
	n := astNode{at: p.text.At(min(off, len(p.text.Value)))}
	for _, k := range kids {
		if k != nil {
			n.h = max(n.h, k.height()+1)
		}
	}
	p.nodes++
	if p.nodes > maxNodes || n.h > maxHeight {
		p.fail(off, "split it into lets", "the expression is too large: at most %d operations, %d of them nested", maxNodes, maxHeight)
	}
	return n
}

func (p *parser) binary(prec int) ast {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxHeight {
		p.fail(p.off, "split it into lets", "the expression is nested more than %d deep", maxHeight)
	}
	x := p.unary()
	for p.err == nil && p.tok.Precedence() >= prec && p.tok != token.AND_NOT {
		op, off := p.tok, p.off
		p.next()
		y := p.binary(op.Precedence() + 1)
		if p.err != nil {
			return nil
		}
		x = &astBinary{astNode: p.node(off, x, y), op: op, x: x, y: y}
	}
	return x
}

func (p *parser) unary() ast {
	off := p.off
	var ops []token.Token
	var offs []int
	for p.tok == token.SUB || p.tok == token.ADD || p.tok == token.NOT {
		ops, offs = append(ops, p.tok), append(offs, p.off)
		p.next()
	}
	if p.tok == token.XOR {
		p.fail(off, "x ^ -1 inverts the bits of an int", "^ has two operands")
	}
	x := p.primary()
	for i := len(ops) - 1; i >= 0 && p.err == nil; i-- {
		x = &astUnary{astNode: p.node(offs[i], x), op: ops[i], x: x}
	}
	return x
}

func (p *parser) primary() ast {
	off, tok, lit := p.off, p.tok, p.lit
	switch {
	case p.err != nil:
		return nil
	case tok == token.INT || tok == token.FLOAT:
		if len(lit) > 1 && lit[0] == '0' && (lit[1] >= '0' && lit[1] <= '9' || lit[1] == '_') && tok == token.INT {
			p.fail(off, "octal numbers are written 0o17", "the number %s has a leading zero", lit)
		}
		p.next()
		return &astNumber{astNode: p.node(off), tok: tok, lit: lit}
	case tok == token.STRING:
		return p.str()
	case tok == token.LPAREN:
		p.next()
		x := p.binary(1)
		p.expect(token.RPAREN)
		return x
	case tok == token.IDENT || tok.IsKeyword():
		return p.name()
	}
	p.unexpected("where a value should stand")
	return nil
}

func (p *parser) str() ast {
	v, err := strconv.Unquote(p.lit)
	if err != nil {
		p.unexpected("where a value should stand")
		return nil
	}
	n := &astString{astNode: p.node(p.off), value: v}
	p.next()
	return n
}

func (p *parser) expect(tok token.Token) {
	if p.err == nil && p.tok != tok {
		p.unexpected("where " + strconv.Quote(tok.String()) + " should stand")
	}
	p.next()
}

// name reads a name, a call or an indexed read.
func (p *parser) name() ast {
	off, name := p.off, p.lit
	if !spec.IsIdent(name) {
		p.fail(off, "", "%q is no identifier: letters of ASCII, digits and underscores", name)
	}
	p.next()
	switch p.tok {
	case token.LPAREN:
		args := p.list(token.RPAREN)
		return &astCall{astNode: p.node(off, args...), name: name, args: args}
	case token.LBRACK:
		idx := p.list(token.RBRACK)
		return &astIndex{astNode: p.node(off, idx...), name: name, idx: idx}
	}
	return &astName{astNode: p.node(off), name: name}
}

// list reads operands up to the closing token; a comma may follow the last.
func (p *parser) list(end token.Token) []ast {
	var args []ast
	p.next()
	for p.err == nil && p.tok != end {
		args = append(args, p.binary(1))
		if p.tok != token.COMMA {
			break
		}
		p.next()
	}
	p.expect(end)
	return args
}
