package tokenizer_test

import (
	"fmt"
	"log"
	"slices"

	"github.com/kernelgen/kgen/tokenizer"
)

func ExampleTrain() {
	text := "she sells sea shells by the sea shore"
	k, err := tokenizer.Train(slices.Values([]string{text}), 262)
	if err != nil {
		log.Fatal(err)
	}
	ids := k.Encode("sea shells")
	for _, id := range ids {
		fmt.Printf("%d %q\n", id, k.Token(id))
	}
	back, err := k.Decode(ids)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", back)
	// Output:
	// 82 "s"
	// 68 "e"
	// 64 "a"
	// 256 " s"
	// 257 "he"
	// 261 "lls"
	// sea shells
}
