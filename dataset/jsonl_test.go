package dataset

import (
	"fmt"
	"strings"
	"testing"
)

// byteIDs is the simplest encoder.
func byteIDs(ids []int32, text string) []int32 {
	for i := range len(text) {
		ids = append(ids, int32(text[i]))
	}
	return ids
}

func TestJSONL(t *testing.T) {
	for name, text := range map[string]string{
		"plain":                "{\"input_ids\":[7,0,9],\"attention_mask\":[1,1,0],\"target\":[1,-2e0]}\n{\"text\":\"ab\",\"target\":[0,0.5]}\n{\"target\":[3,4],\"input_ids\":[]}\n",
		"no newline at end":    "{\"input_ids\":[7,0,9],\"attention_mask\":[1,1,0],\"target\":[1,-2]}\n{\"text\":\"ab\",\"target\":[0,0.5]}\n{\"target\":[3,4],\"input_ids\":[]}",
		"carriage returns":     "{\"input_ids\":[7,0,9],\"attention_mask\":[1,1,0],\"target\":[1,-2]}\r\n{\"text\":\"ab\",\"target\":[0,0.5]}\r\n{\"target\":[3,4],\"input_ids\":[]}\r\n",
		"mark and empty lines": "\ufeff\n{\"input_ids\":[7,0,9],\"attention_mask\":[1,1,0],\"target\":[1,-2]}\n \t\n{\"text\":\"ab\",\"target\":[0,0.5]}\n\n{\"target\":[3,4],\"input_ids\":[]}\n\n",
		"ids before the text":  "{\"text\":\"not looked at\",\"input_ids\":[7,0,9],\"attention_mask\":[1,1,0],\"target\":[1,-2]}\n{\"text\":\"\\u0061b\",\"target\":[0,0.5]}\n{\"target\":[3,4],\"input_ids\":[]}\n",
	} {
		t.Run(name, func(t *testing.T) {
			f, err := OpenJSONL(put(t, "file.jsonl", []byte(text)), byteIDs)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			want := []Sample{
				{[]int32{7, 0, 9}, []uint8{1, 1, 0}, []float32{1, -2}},
				{[]int32{'a', 'b'}, []uint8{1, 1}, []float32{0, 0.5}},
				{nil, nil, []float32{3, 4}},
			}
			if got := samples(t, f); !same(got, want) || f.Dim() != 2 {
				t.Errorf("the file holds %v, want %v", got, want)
			}
		})
	}
}

func TestJSONLWithoutTargets(t *testing.T) {
	f, err := OpenJSONL(put(t, "file.jsonl", []byte(`{"text":"abc"}`)), byteIDs)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Len() != 1 || f.Dim() != 0 || f.Tokens(0) != 3 {
		t.Errorf("%d samples of %d ids with targets of %d", f.Len(), f.Tokens(0), f.Dim())
	}
}

// Each is the second line of a file whose first and third are good.
func TestJSONLRefuses(t *testing.T) {
	for line, want := range map[string]string{
		`{"input_ids":[1],"target":[1,2]`:    "EOF",
		`{"input_ids":[1],"target":[1,2]}{}`: "after top-level value",
		`[1,2]`:                              "array",
		`null`:                               "neither input_ids nor text",
		`{}`:                                 "neither input_ids nor text",
		`{"target":[1,2]}`:                   "neither input_ids nor text",
		`{"input_ids":[1],"attention_msak":[1],"target":[1,2]}`:          "attention_msak",
		`{"Input_IDs":[1],"target":[1,2]}`:                               "Input_IDs",
		`{"input_ids":[1],"input_ids":[2],"target":[1,2]}`:               "duplicate",
		`{"input_ids":[1.5],"target":[1,2]}`:                             "1.5 is no whole number of 32 bits",
		`{"input_ids":[1e1],"target":[1,2]}`:                             "1e1 is no whole number",
		`{"input_ids":["1"],"target":[1,2]}`:                             `"1" is no whole number`,
		`{"input_ids":[null],"target":[1,2]}`:                            "null is no whole number",
		`{"input_ids":[[1]],"target":[1,2]}`:                             "[1] is no whole number",
		`{"input_ids":[2147483648],"target":[1,2]}`:                      "2147483648 is no whole number",
		`{"input_ids":[-1],"target":[1,2]}`:                              "ids[0] is -1, must not be negative",
		`{"input_ids":1,"target":[1,2]}`:                                 "must be an array of numbers",
		`{"input_ids":[1,2],"attention_mask":[1],"target":[1,2]}`:        "the mask has 1 elements, there are 2 ids",
		`{"input_ids":[1],"attention_mask":[2],"target":[1,2]}`:          "attention_mask[0] is 2, must be 0 or 1",
		`{"input_ids":[1],"attention_mask":[257],"target":[1,2]}`:        "attention_mask[0] is 257, must be 0 or 1",
		`{"input_ids":[1],"attention_mask":[true],"target":[1,2]}`:       "true is no whole number",
		`{"text":"a","attention_mask":[1],"target":[1,2]}`:               "an attention_mask for a text",
		`{"text":7,"target":[1,2]}`:                                      "number",
		"{\"text\":\"\xff\",\"target\":[1,2]}":                           "UTF-8",
		`{"text":"a"}`:                                                   "the target has 0 elements, must be 2",
		`{"text":"a","target":[1]}`:                                      "the target has 1 elements, must be 2",
		`{"text":"a","target":["1",2]}`:                                  `"1" is no number that a float32 holds`,
		`{"text":"a","target":[1e39,2]}`:                                 "1e39 is no number that a float32 holds",
		`{"text":"a","target":[NaN,2]}`:                                  "invalid character 'N'",
		`{"text":"a","target":` + strings.Repeat("[", 20000):             "depth",
		`{"text":"a","target":[1,2],"x":` + strings.Repeat(`{"a":`, 1e5): `"x"`,
		`{"text":"a","input_ids":null,"target":[1,2]}`:                   "must be an array of numbers",
	} {
		first := `{"text":"x","target":[0,0]}` + "\n"
		path := put(t, "file.jsonl", []byte(first+line+"\n"+first))
		_, err := OpenJSONL(path, byteIDs)
		where := fmt.Sprintf("%s:2: (byte %d) ", path, len(first))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), where) {
			t.Errorf("%.80s: error %.300v, want one with %q and %q", line, err, want, where)
		}
	}
}

func TestJSONLNeedsATokenizer(t *testing.T) {
	_, err := OpenJSONL(put(t, "file.jsonl", []byte(`{"text":"a"}`)), nil)
	if want := "no tokenizer"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// The errors of a file are listed, ten of them.
func TestJSONLListsErrors(t *testing.T) {
	_, err := OpenJSONL(put(t, "file.jsonl", []byte(strings.Repeat("{\"text\":\"a\"}\n{}\n", 20))), byteIDs)
	if err == nil || strings.Count(err.Error(), "neither") != 10 || !strings.Contains(err.Error(), ":2: ") || !strings.Contains(err.Error(), ":20: ") {
		t.Errorf("error %v, want those of lines 2 to 20", err)
	}
}

// What is taken is read again as it was.
func FuzzJSONL(f *testing.F) {
	f.Add([]byte("{\"input_ids\":[7,0,9],\"attention_mask\":[1,1,0],\"target\":[1,-2e0]}\n{\"text\":\"ab\",\"target\":[0,0.5]}\n"))
	f.Add([]byte("\ufeff\r\n{\"text\":\"\\ud83d\\ude00\"}"))
	f.Add([]byte("{\"text\":\"\\ud83d\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		src, err := decodeJSONL("fuzz", data, byteIDs)
		if err != nil {
			return
		}
		for _, s := range samples(t, src) {
			if err := s.check(src.Dim()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
