package softmetal

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Header returns the text of one header that declares what the tables list, and nothing
// else: the framework's headers include it under their own names. Members whose types
// the tables do not have, such as those about textures, are left out. What instances of
// the software Metal's classes hold is in macros of src/ivars.h.
func Header() (string, error) {
	members, constants, err := readTables()
	if err != nil {
		return "", err
	}
	h := &header{known: map[string]bool{}, classes: map[string]bool{}, protocols: map[string]bool{}}
	for _, w := range strings.Fields("const void char short int long float double unsigned signed size_t uint64_t uint32_t intptr_t id SEL Class IMP instancetype Protocol") {
		h.known[w] = true
	}
	for _, m := range members {
		switch m.kind {
		case "interface":
			h.classes[m.owner] = true
		case "protocol":
			h.protocols[m.owner] = true
		}
	}
	h.protocols["NSObject"] = true
	h.write(members, constants)
	return h.b.String(), nil
}

type header struct {
	b                         strings.Builder
	known, classes, protocols map[string]bool
}

func (h *header) line(format string, args ...any) { fmt.Fprintf(&h.b, format+"\n", args...) }

func (h *header) write(members []member, constants []constant) {
	h.line("// Made from the tables of package softmetal.\n#pragma once\n#include <stdint.h>\n#include <stddef.h>\n#include <objc/objc.h>\n#include \"ivars.h\"\n")
	h.line("#define NSIntegerMax LONG_MAX")
	h.forward()
	for _, c := range constants {
		if c.typ == "typedef" && !strings.Contains(c.value, "(^)") && c.name != "BOOL" && c.name != "MTLArgumentAccess" {
			h.line("typedef %s %s;", plain(c.value), c.name)
		}
		if c.typ == "typedef" {
			h.known[c.name] = true
		}
	}
	h.enums(constants)
	h.structs(constants)
	for _, c := range constants {
		if c.typ == "typedef" && strings.Contains(c.value, "(^)") && h.knows(c.value) {
			h.line("typedef %s;", strings.Replace(plain(c.value), "(^)", "(^"+c.name+")", 1))
		}
	}
	h.owners(members)
	h.functions(members)
}

// forward declares all classes and protocols, since they name each other.
func (h *header) forward() {
	for _, list := range []struct {
		word  string
		names map[string]bool
	}{{"@class", h.classes}, {"@protocol", h.protocols}} {
		for _, name := range sorted(list.names) {
			h.line("%s %s%s;", list.word, name, parameters[name])
		}
	}
	h.line("@class NSObject;")
	h.classes["NSObject"] = true
}

func sorted(set map[string]bool) []string {
	var list []string
	for name := range set {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

func (h *header) enums(constants []constant) {
	for i := 0; i < len(constants); {
		end := i
		for end < len(constants) && constants[end].typ == constants[i].typ {
			end++
		}
		h.enum(constants[i:end])
		i = end
	}
}

func (h *header) enum(list []constant) {
	typ := list[0].typ
	kind, base, _ := strings.Cut(list[0].kind, " ")
	switch kind {
	case "enum", "options":
		h.line("typedef enum %s : %s {", typ, base)
		for _, c := range list {
			h.line("\t%s = %s,", c.name, unsigned(c.value))
		}
		h.line("} %s;", typ)
		h.known[typ] = true
	case "string":
		if !h.known[typ] {
			h.line("typedef NSString *%s;", typ)
			h.known[typ] = true
		}
		for _, c := range list {
			h.line("extern NSString *const %s;", c.name)
		}
	case "macro", "constant":
		for _, c := range list {
			h.line("#define %s %s", c.name, unsigned(c.value))
		}
	}
}

// unsigned is a number as C has it.
func unsigned(value string) string {
	if strings.HasPrefix(value, "-") {
		return value
	}
	return value + "ul"
}

func (h *header) structs(constants []constant) {
	for i, c := range constants {
		name, ok := strings.CutPrefix(c.typ, "struct ")
		if !ok || i > 0 && constants[i-1].typ == c.typ {
			continue
		}
		h.line("typedef struct %s {", name)
		size := ""
		for _, f := range constants[i:] {
			if f.typ != c.typ {
				break
			}
			if f.name == "(sizeof)" {
				size = f.value
				continue
			}
			typ, _, _ := strings.Cut(strings.TrimPrefix(f.kind, "field "), ",")
			elem, count, array := strings.Cut(typ, "[")
			if array {
				h.line("\t%s %s[%s;", elem, f.name, count)
			} else {
				h.line("\t%s %s;", elem, f.name)
			}
		}
		h.line("} %s;\n_Static_assert(sizeof(%s) == %s, \"\");", name, name, size)
		h.known[name] = true
	}
}

// owners declares each class and protocol with its members, those that it adopts or is
// derived from first.
func (h *header) owners(members []member) {
	order, of, base := []string{"NSObject"}, map[string][]member{}, map[string]member{}
	for _, m := range members {
		switch m.kind {
		case "interface", "protocol":
			order = append(order, m.owner)
			base[m.owner] = m
		case "class", "instance", "property":
			of[m.owner] = append(of[m.owner], m)
		}
	}
	h.line("@protocol NSObject")
	h.members(slices.DeleteFunc(slices.Clone(of["NSObject"]), func(m member) bool { return m.kind == "class" }))
	h.line("@end\n@interface NSObject <NSObject> {\n\tClass isa;\n}")
	h.members(of["NSObject"])
	h.line("@end")
	done := map[string]bool{"NSObject": true}
	var declare func(name string)
	declare = func(name string) {
		m, ok := base[name]
		if !ok || done[name] {
			return
		}
		done[name] = true
		for _, parent := range regexp.MustCompile(`\w+`).FindAllString(m.args, -1) {
			declare(parent)
		}
		if m.kind == "interface" {
			h.line("#ifndef IVARS_%s\n#define IVARS_%[1]s\n#endif", name)
			h.line("@interface %s%s : %s {\n\tIVARS_%[1]s\n}", name, parameters[name], m.args)
		} else {
			adopted := strings.Trim(m.args, "<>")
			if m.args == "-" {
				adopted = ""
			}
			if adopted = strings.ReplaceAll(strings.ReplaceAll(adopted, "<", ""), ">", ""); adopted != "" {
				adopted = " <" + adopted + ">"
			}
			h.line("@protocol %s%s", name, adopted)
		}
		h.members(of[name])
		h.line("@end")
	}
	for _, name := range order {
		declare(name)
	}
}

// parameters are those of the classes that have any. What depends on them is id here.
var parameters = map[string]string{
	"NSArray": "<ObjectType>", "NSMutableArray": "<ObjectType>", "NSEnumerator": "<ObjectType>",
	"NSDictionary": "<KeyType, ObjectType>", "NSMutableDictionary": "<KeyType, ObjectType>",
}

func (h *header) members(list []member) {
	seen := map[string]bool{}
	for _, m := range list {
		sign := "-"
		if m.kind == "class" {
			sign = "+"
		}
		args := split(m.args)
		variadic := len(args) > 0 && args[len(args)-1] == "..."
		if variadic {
			args = args[:len(args)-1]
		}
		parts := strings.SplitAfter(m.selector, ":")
		if parts[len(parts)-1] == "" {
			parts = parts[:len(parts)-1]
		}
		if strings.Contains(m.mark, "unavailable") || seen[sign+m.selector] || !h.knows(m.returns) || !h.knows(args...) || strings.Contains(m.selector, ":") && len(parts) != len(args) {
			continue
		}
		seen[sign+m.selector] = true
		text := fmt.Sprintf("%s (%s)", sign, plain(m.returns))
		for i, p := range parts {
			text += p
			if i < len(args) {
				text += fmt.Sprintf("(%s)a%d ", plain(args[i]), i)
			}
		}
		if variadic {
			text = strings.TrimRight(text, " ") + ", ..."
		}
		h.line("%s;", strings.TrimRight(text, " "))
	}
}

// inline are the bodies of the functions that Apple's headers define themselves.
var inline = map[string]string{
	"MTLSizeMake": "return (MTLSize){a0, a1, a2};",
	"NSMakeRange": "return (NSRange){a0, a1};",
}

func (h *header) functions(members []member) {
	for _, m := range members {
		args := split(m.args)
		if m.kind != "function" || m.owner == "libdispatch" || !h.knows(m.returns) || !h.knows(args...) {
			continue
		}
		var list []string
		for i, a := range args {
			if a != "void" && a != "..." {
				a = fmt.Sprintf("%s a%d", plain(a), i)
			}
			list = append(list, a)
		}
		head := fmt.Sprintf("%s %s(%s)", plain(m.returns), m.selector, strings.Join(list, ", "))
		switch body := inline[m.selector]; {
		case body != "":
			h.line("static inline %s { %s }", head, body)
		case !strings.Contains(m.mark, "inline"):
			h.line("extern %s;", head)
		}
	}
}

var (
	nullability = regexp.MustCompile(`\b(_Nullable|_Nonnull|__strong|__autoreleasing|__kindof|oneway)\b`)
	generic     = regexp.MustCompile(`\b(NSArray|NSMutableArray|NSDictionary|NSMutableDictionary|NSEnumerator)\s*<[^()]*>`)
	element     = regexp.MustCompile(`\b(ObjectType|KeyType)\b`)
	word        = regexp.MustCompile(`[A-Za-z_]\w*`)
)

// plain is a type of the tables as C has it here.
func plain(t string) string {
	t = generic.ReplaceAllString(nullability.ReplaceAllString(t, ""), "$1")
	return strings.Join(strings.Fields(element.ReplaceAllString(t, "id")), " ")
}

// knows reports whether everything that types name is declared.
func (h *header) knows(types ...string) bool {
	for _, t := range types {
		if t == "-" || t == "?" || strings.Contains(t, "[]") || strings.Contains(t, "struct") {
			return false
		}
		for _, w := range word.FindAllString(plain(t), -1) {
			if !h.known[w] && !h.classes[w] && !h.protocols[w] {
				return false
			}
		}
	}
	return true
}

// split cuts a list of types at the commas outside of brackets.
func split(args string) []string {
	if args == "-" {
		return nil
	}
	var list []string
	depth, from := 0, 0
	for i, c := range args {
		switch c {
		case '(', '<':
			depth++
		case ')', '>':
			depth--
		case ',':
			if depth == 0 {
				list = append(list, strings.TrimSpace(args[from:i]))
				from = i + 1
			}
		}
	}
	return append(list, strings.TrimSpace(args[from:]))
}
