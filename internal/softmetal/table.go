package softmetal

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed tables/selectors.tsv tables/enums.tsv
var tables embed.FS

// member is a row of selectors.tsv.
type member struct {
	owner, kind, selector, returns, args, mark string
}

// constant is a row of enums.tsv.
type constant struct {
	typ, name, value, kind string
}

// rows returns the columns of each row of a table but the first, which has their names.
func rows(name string, columns int) ([][]string, error) {
	data, err := tables.ReadFile("tables/" + name)
	if err != nil {
		return nil, err
	}
	var list [][]string
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		row := strings.Split(line, "\t")
		if len(row) < columns {
			return nil, fmt.Errorf("softmetal: %s:%d has %d columns, want %d", name, i+2, len(row), columns)
		}
		list = append(list, row)
	}
	return list, nil
}

func readTables() (members []member, constants []constant, err error) {
	list, err := rows("selectors.tsv", 8)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range list {
		members = append(members, member{owner: r[0], kind: r[1], selector: r[2], returns: r[3], args: r[4], mark: r[7]})
	}
	if list, err = rows("enums.tsv", 4); err != nil {
		return nil, nil, err
	}
	for _, r := range list {
		constants = append(constants, constant{typ: r[0], name: r[1], value: r[2], kind: r[3]})
	}
	return members, constants, nil
}
