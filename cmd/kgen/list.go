package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/kernelgen/kgen/gen"
)

type listCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Run prints one row for each kernel and each derived gradient.
func (c *listCmd) Run(e *env) error {
	_, res, err := e.compile()
	if err != nil {
		return err
	}
	rows := res.Rows()
	if c.JSON {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(rows)
	}
	return printRows(e, rows)
}

func printRows(e *env, rows []gen.Row) error {
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tGROUP\tFAMILY\tDTYPES\tTARGETS\tGRAD\tSPEC")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Name, r.Group, r.Family,
			orDash(strings.Join(r.DTypes, ",")), orDash(strings.Join(r.Targets, ",")), orDash(r.Grad), r.Spec)
	}
	return w.Flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
