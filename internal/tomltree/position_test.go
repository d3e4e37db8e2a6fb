package tomltree

import (
	"strings"
	"testing"
)

// TestPositions marks places with « in the text: the position of the value (or
// key) that starts there, or of the byte of a string, must be that place.
func TestPositions(t *testing.T) {
	tests := []struct {
		name string
		text string // « stands before the wanted place and is taken out
		path string // of the node
		key  bool   // the position of the key, else of the value
		at   string // the first byte of this text inside the value, if any
	}{
		{"bare key", "a = 1\n  «b = 2\n", "b", true, ""},
		{"value", "a = «1 # c\n", "a", false, ""},
		{"float", "a =\t «1e-5\n", "a", false, ""},
		{"date with space", "d = «1979-05-27 07:32:00\n", "d", false, ""},
		{"string", "a = «\"x + y\"\n", "a", false, ""},
		{"in string", "a = \"x + «y\"\n", "a", false, "y"},
		{"in literal", "a = 'x \\ «y'\n", "a", false, "y"},
		{"in multi-line", "a = \"\"\"\nx +\n  «y\"\"\"\n", "a", false, "y"},
		{"in multi-line on first line", "a = \"\"\"x +\n  «y\"\"\"\n", "a", false, "y"},
		{"in multi-line literal", "a = '''\nx\n\t«y'''\n", "a", false, "y"},
		{"after escapes", "a = \"\\t\\u00e4\\\\\\x41«y\"\n", "a", false, "y"},
		{"escape itself", "a = \"\\\"«\\u0079z\"\n", "a", false, "y"},
		{"after continuation", "a = \"\"\"x \\\n\n   «y\"\"\"\n", "a", false, "y"},
		{"quotes at end", "a = \"\"\"x«\"\"\"\"\"\n", "a", false, "\"\""},
		{"literal quotes at end", "a = '''x«'''''\n", "a", false, "''"},
		{"after UTF-8", "a = \"ä€«y\"\n", "a", false, "y"},
		{"table header", "[x]\n[ «y ]\na=1\n", "y", true, ""},
		{"dotted header", "[a . «b]\nc = 1\n", "a.b", true, ""},
		{"dotted header parent", "[«a.b]\nc = 1\n", "a", true, ""},
		{"dotted key", "x = 1\na.«b.c = 1\n", "a.b", true, ""},
		{"dotted key leaf", "a.b.«c = 1\n", "a.b.c", true, ""},
		{"second dotted key", "a.b = 1\na.«c = 2\n", "a.c", true, ""},
		{"quoted key", "«\"a b\" = 1\n", "a b", true, ""},
		{"literal key", "«'a.b' = 1\n", "a•b", true, ""},
		{"escaped key", "[«\"\\u0061\"]\nx=1\n", "a", true, ""},
		{"inline table", "p = { x = 1, «y = 2 }\n", "p.y", true, ""},
		{"inline table itself", "p = «{ x = 1 }\n", "p", false, ""},
		{"inline over lines", "p = {\n x = 1, # c }\n «y = 2,\n}\n", "p.y", true, ""},
		{"inline dotted", "p = { x.«y = 'z' }\n", "p.x.y", true, ""},
		{"inline value", "p = { \"a=n\" = \"M «K\" }\n", "p.a=n", false, "K"},
		{"array", "a = [ 1, # ]\n «2,\n]\n", "a.#1", false, ""},
		{"array of strings", "a = ['x','y «z']\n", "a.#1", false, "z"},
		{"nested array", "a = [[1],[2,«3]]\n", "a.#1.#1", false, ""},
		{"table in array", "a = [{b=1},{«b=2}]\n", "a.#1.b", true, ""},
		{"array of tables", "[[a]]\nb=1\n[[a]]\n«b=2\n", "a.#1.b", true, ""},
		{"table below array of tables", "[[a]]\n[[a]]\n[a.c]\n«d=2\n", "a.#1.c.d", true, ""},
		{"hash in string", "a = \"#\" # «\n«b = 1\n", "b", true, ""},
		{"CRLF", "a = 1\r\n«b = 2\r\n", "b", true, ""},
		{"CRLF in multi-line", "a = \"\"\"\r\nx\r\n «y\"\"\"\r\n", "a", false, "y"},
		{"BOM", "\xef\xbb\xbf«a = 1\n", "a", true, ""},
		{"no final line end", "a = «1", "a", false, ""},
		{"comment first", "# one\n\n\t# two\n«a = 1", "a", true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, line, col := cutMark(tt.text)
			src, list := NewSource("f.toml", []byte(text))
			if len(list) > 0 {
				t.Fatal(list.Err())
			}
			root, err := parse(src)
			if err != nil {
				t.Fatal(err)
			}
			n := find(t, root, tt.path)
			got := n.Val.Pos()
			switch {
			case tt.key:
				got = n.Key.Pos()
			case tt.at != "":
				i := strings.Index(n.Val.Value, tt.at)
				if i < 0 {
					t.Fatalf("%q holds no %q", n.Val.Value, tt.at)
				}
				got = n.Val.At(i)
			}
			if got.Line != line || got.Col != col {
				t.Errorf("got %d:%d, want %d:%d", got.Line, got.Col, line, col)
			}
		})
	}
}

// cutMark removes the last « of text (and any before it) and returns its place.
func cutMark(text string) (clean string, line, col int) {
	i := strings.LastIndex(text, "«")
	before := strings.ReplaceAll(text[:i], "«", "")
	clean = before + text[i+len("«"):]
	before = strings.TrimPrefix(before, "\xef\xbb\xbf")
	line = 1 + strings.Count(before, "\n")
	col = 1 + len(before) - (strings.LastIndex(before, "\n") + 1)
	return clean, line, col
}

// find follows a dotted path; #1 is the second element of an array, • a dot in
// a key.
func find(t *testing.T, n *Node, path string) *Node {
	t.Helper()
	for part := range strings.SplitSeq(path, ".") {
		if i := strings.TrimPrefix(part, "#"); i != part {
			n = n.Kids[int(i[0]-'0')]
			continue
		}
		if n = n.Child(strings.ReplaceAll(part, "•", ".")); n == nil {
			t.Fatalf("no key %q", part)
		}
	}
	return n
}

// FuzzIndex holds the position index against the TOML library: whatever the
// library accepts, the index must read alike, with each string byte in place.
func FuzzIndex(f *testing.F) {
	for _, s := range []string{
		"a = 1", "[a]\nb = 'x'", "a.b.c = \"\\u00e4\"", "a = \"\"\"\nx \\\n  y\"\"\"\"\"",
		"a = [1, {b = 2}, [[]]]", "[[a]]\n[a.b]\nc = 1979-05-27 07:32:00Z\n[[a]]",
		"a = {b = '''\n''', \"c d\".'e' = inf, }", "\"\" = 1", "a = '''''x'''''", "a=\"#\" # \" ]",
		"a = {\n# c\n b = 1,\n}", "\xef\xbb\xbfa = 1\r\nb = \"\"\"\r\n\r\n\"\"\"", "a = [\n]\n", "a = 0x_1", `a = """` + sixQuotes,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		src, list := NewSource("f.toml", data)
		if len(list) > 0 {
			return
		}
		values, err := libraryValues(src.Text)
		if err != nil {
			return
		}
		root, err := buildIndex(src)
		if err != nil {
			if strings.Contains(src.Text, sixQuotes) {
				return
			}
			t.Fatalf("the library accepts %q, the index says %v", src.Text, err)
		}
		if err := attach(root, values); err != nil {
			t.Fatalf("%q: %v", src.Text, err)
		}
		checkPlaces(t, src, root)
	})
}

// sixQuotes ends no string in TOML, which has at most two quotes before the three that
// do. After an escaped backslash the library takes them.
const sixQuotes = `\\""""""`

// checkPlaces verifies that keys and values stand where the index says, and
// that places inside a string rise.
func checkPlaces(t *testing.T, src *Source, n *Node) {
	for _, text := range []Text{n.Key, n.Val} {
		if !text.IsSet() {
			continue
		}
		if text.offs == nil && !strings.HasPrefix(src.Text[text.body:], text.Value) {
			t.Fatalf("%q: %q does not stand at offset %d", src.Text, text.Value, text.body)
		}
		for i := 1; i < len(text.offs); i++ {
			if text.offs[i] < text.offs[i-1] {
				t.Fatalf("%q: places in %q fall", src.Text, text.Value)
			}
		}
		text.At(len(text.Value))
	}
	for _, k := range n.Kids {
		checkPlaces(t, src, k)
	}
}
