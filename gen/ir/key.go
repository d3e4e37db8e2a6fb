package ir

import (
	"encoding/binary"
	"math"
	"reflect"
	"sync"
)

// Key returns all that f computes, and nothing of what it calls things: two
// functions of one target with equal keys differ in their names and comments
// alone. The number by which a fault names a tensor is part of it.
func Key(f *Func) string {
	k := keyer{seen: map[any]uint64{}}
	k.value(reflect.ValueOf(f).Elem())
	return string(k.text)
}

// computing returns the fields of a struct that say what it computes.
func computing(t reflect.Type) []int {
	if is, there := fields.Load(t); there {
		return is.([]int)
	}
	var is []int
	for i := range t.NumField() {
		switch t.Field(i).Name {
		case "Name", "Doc", "Symbol", "Arg":
		default:
			is = append(is, i)
		}
	}
	fields.Store(t, is)
	return is
}

var fields sync.Map // []int by reflect.Type: asking a type for its fields is slow

type keyer struct {
	text []byte
	seen map[any]uint64 // what has a name, numbered in the order of first use
}

func (k *keyer) number(n uint64) { k.text = binary.AppendUvarint(k.text, n) }

func (k *keyer) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			k.number(0)
			return
		}
		k.pointee(v)
	case reflect.Slice:
		k.number(uint64(v.Len()))
		for i := range v.Len() {
			k.value(v.Index(i))
		}
	case reflect.Struct:
		for _, i := range computing(v.Type()) {
			k.value(v.Field(i))
		}
	case reflect.Bool:
		if v.Bool() {
			k.number(1)
		} else {
			k.number(0)
		}
	case reflect.String:
		k.number(uint64(v.Len()))
		k.text = append(k.text, v.String()...)
	case reflect.Float64:
		k.number(math.Float64bits(v.Float()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		k.number(uint64(v.Int()))
	default:
		k.number(v.Uint())
	}
}

// pointee adds what v, which is not nil, points to or holds.
func (k *keyer) pointee(v reflect.Value) {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
		name := v.Elem().Type().Name() // every node is a pointer to a struct
		k.number(uint64(len(name)))
		k.text = append(k.text, name...)
	}
	switch x := v.Interface().(type) {
	case *Note:
		return
	case *Fault:
		k.number(uint64(x.B.Arg))
	case *Var, *Buffer, *Field, *Array, *Matrix:
		if n, there := k.seen[x]; there {
			k.number(n)
			return
		}
		k.seen[x] = uint64(len(k.seen)) + 1
		k.number(k.seen[x])
	}
	k.value(v.Elem())
}
