package grad

import "strconv"

// uniqueIn returns name, or name with the first number that makes it new, and
// enters it.
func uniqueIn(names map[string]bool, name string) string {
	try := name
	for n := 2; names[try]; n++ {
		try = name + "_" + strconv.Itoa(n)
	}
	names[try] = true
	return try
}
