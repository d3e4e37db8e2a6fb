package config

import (
	"fmt"
	"strings"
)

// Format returns the configuration, with defaults and without what has no meaning in it, as
// the text of a file that gives the same run.
func (c *Config) Format() string {
	var b strings.Builder
	keys := c.keys()
	for _, table := range Tables {
		body := c.table(keys, table.Name)
		if body != "" && table.Name != "" {
			fmt.Fprintf(&b, "\n[%s]\n", table.Name)
		}
		b.WriteString(body)
	}
	return b.String()
}

// table returns the lines of the keys of a table.
func (c *Config) table(keys []Key, table string) string {
	var b strings.Builder
	for _, k := range keys {
		if k.Table == table && c.without(k) == "" {
			fmt.Fprintf(&b, "%s = %s\n", k.Name, k.value.format())
		}
	}
	return b.String()
}
