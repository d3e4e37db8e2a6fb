package spec

import (
	"bytes"
	"encoding/json"
)

// schema is a JSON schema. Draft 7 is what editors of TOML read.
type schema struct {
	Comment       string              `json:"$comment,omitempty"`
	Dialect       string              `json:"$schema,omitempty"`
	Title         string              `json:"title,omitempty"`
	Description   string              `json:"description,omitempty"`
	Type          string              `json:"type,omitempty"`
	Enum          []string            `json:"enum,omitempty"`
	Minimum       *int64              `json:"minimum,omitempty"`
	Maximum       *int64              `json:"maximum,omitempty"`
	Items         *schema             `json:"items,omitempty"`
	MinItems      int                 `json:"minItems,omitempty"`
	MaxItems      int                 `json:"maxItems,omitempty"`
	UniqueItems   bool                `json:"uniqueItems,omitempty"`
	Pattern       string              `json:"pattern,omitempty"`
	Properties    *properties         `json:"properties,omitempty"`
	PropertyNames *schema             `json:"propertyNames,omitempty"`
	Additional    any                 `json:"additionalProperties,omitempty"` // a schema, or false
	Required      []string            `json:"required,omitempty"`
	Dependencies  map[string][]string `json:"dependencies,omitempty"`
	AnyOf         []*schema           `json:"anyOf,omitempty"`
	If            *schema             `json:"if,omitempty"`
	Else          *schema             `json:"else,omitempty"`
}

// properties are the schemas of keys, in the order of the keys.
type properties struct {
	names   []string
	schemas []*schema
}

func (p *properties) add(name string, s *schema) {
	p.names, p.schemas = append(p.names, name), append(p.schemas, s)
}

// MarshalJSON writes an object with the keys in their order.
func (p *properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range p.names {
		value, err := json.Marshal(p.schemas[i])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + name + `":`) // an identifier
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

const (
	identPattern      = "^(_*[A-Za-z]|_+[0-9])[A-Za-z0-9_]*$"
	conditionsPattern = "^[^=,]+=[^=,]+(,[^=,]+=[^=,]+)*$"
)

// Schema returns the JSON schema of a spec file, for editors. Its first line
// holds the comment. What it refuses the decoder refuses, too; the decoder knows
// more, such as what expressions mean.
func Schema(comment string) ([]byte, error) {
	s := tableSchema(fileKeys)
	s.Comment, s.Dialect, s.Title = comment, "http://json-schema.org/draft-07/schema#", "A kernel specification of kgen"
	withoutRaw := &properties{}
	for _, k := range fileKeys {
		if required := names(k.keys, unlessRaw); required != nil {
			withoutRaw.add(k.name, &schema{Additional: &schema{Required: required}})
		}
	}
	s.If, s.Else = &schema{Required: []string{"raw"}}, &schema{Properties: withoutRaw}
	s.AnyOf = []*schema{{Required: []string{"out"}}, {Required: []string{"inout"}}}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, err
	}
	// The comment moves up to the first line.
	return append(bytes.Replace(text, []byte("{\n  "), []byte("{"), 1), '\n'), nil
}

// tableSchema describes a table that has the keys.
func tableSchema(keys []key) *schema {
	s := &schema{Type: "object", Additional: false, Required: names(keys, always), Properties: &properties{}}
	for _, k := range keys {
		s.Properties.add(k.name, k.schema())
		if k.with != "" {
			if s.Dependencies == nil {
				s.Dependencies = map[string][]string{}
			}
			s.Dependencies[k.name] = []string{k.with}
		}
	}
	return s
}

// names are the names of the keys that are needed so.
func names(keys []key, n need) []string {
	var list []string
	for _, k := range keys {
		if k.need == n {
			list = append(list, k.name)
		}
	}
	return list
}

// schema describes the value of a key.
func (k key) schema() *schema {
	s := k.valueSchema()
	s.Description = k.doc
	return s
}

func (k key) valueSchema() *schema {
	text := &schema{Type: "string"}
	texts := &schema{Type: "array", Items: &schema{Type: "string", Enum: k.words}, MinItems: 1, UniqueItems: true}
	conditions := &schema{Pattern: conditionsPattern}
	switch k.kind {
	case textsKind:
		return texts
	case tilesKind:
		return &schema{Type: "array", Items: text, MinItems: 1, MaxItems: k.most}
	case flagKind:
		return &schema{Type: "boolean"}
	case valueKind:
		// JSON has no infinities and no NaN: editors see null in their place.
		return &schema{AnyOf: []*schema{{Type: "number"}, {Type: "boolean"}, {Type: "null"}}}
	case wholeKind:
		return &schema{Type: "integer", Minimum: &k.lo, Maximum: &k.hi}
	case shapeKind:
		return &schema{AnyOf: []*schema{text, {Type: "object", PropertyNames: conditions, Additional: text}}}
	case casesKind:
		return &schema{Type: "object", PropertyNames: conditions, Additional: &schema{Type: "string", Pattern: conditionsPattern}}
	case entriesKind:
		return named(text)
	case listsKind:
		return named(texts)
	case tableKind:
		return tableSchema(k.keys)
	case tablesKind:
		return named(tableSchema(k.keys))
	}
	return &schema{Type: "string", Enum: k.words}
}

// named describes a table from names to values.
func named(value *schema) *schema {
	return &schema{Type: "object", PropertyNames: &schema{Pattern: identPattern}, Additional: value}
}
