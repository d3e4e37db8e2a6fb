package sim

import (
	"debug/dwarf"
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sort"
)

// place is a line and column of the source; the zero value is none.
type place struct{ line, col int }

// lineTable maps addresses of an executable to places of its Metal source.
type lineTable struct {
	rows []lineRow
}

// lineRow holds from its address up to the next row's.
type lineRow struct {
	addr uint64
	at   place // zero outside of the Metal source
}

// readLines reads the line table of an executable, so that reports need no
// symbolizer.
func readLines(path string) (*lineTable, error) {
	data, err := debugData(path)
	if err != nil {
		return nil, err
	}
	t := &lineTable{}
	for r := data.Reader(); ; {
		unit, err := r.Next()
		if err != nil {
			return nil, err
		}
		if unit == nil {
			break
		}
		if unit.Tag == dwarf.TagCompileUnit {
			if err := t.add(data, unit); err != nil {
				return nil, err
			}
		}
		r.SkipChildren()
	}
	sort.SliceStable(t.rows, func(i, j int) bool { return t.rows[i].addr < t.rows[j].addr })
	return t, nil
}

func debugData(path string) (*dwarf.Data, error) {
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		return f.DWARF()
	}
	f, err := macho.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s has no debug information: %w", filepath.Base(path), err)
	}
	defer f.Close()
	return f.DWARF()
}

func (t *lineTable) add(data *dwarf.Data, unit *dwarf.Entry) error {
	r, err := data.LineReader(unit)
	if err != nil || r == nil {
		return err
	}
	for {
		var e dwarf.LineEntry
		err := r.Next(&e)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		row := lineRow{addr: e.Address}
		if !e.EndSequence && e.File != nil && filepath.Base(e.File.Name) == sourceName {
			row.at = place{e.Line, e.Column}
		}
		t.rows = append(t.rows, row)
	}
}

// at gives the place of an address; zero if it is not of the Metal source.
func (t *lineTable) at(addr uint64) place {
	i := sort.Search(len(t.rows), func(i int) bool { return t.rows[i].addr > addr })
	if i == 0 {
		return place{}
	}
	return t.rows[i-1].at
}
