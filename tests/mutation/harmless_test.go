package mutation

import "regexp"

// exchange is an exchange of operators that a test need not notice.
type exchange struct {
	did *regexp.Regexp // how variant.corrupt tells of it
	why string
}

var harmless = []*exchange{
	{
		regexp.MustCompile(`: sub\((to|end|args\.size_[A-Z]+)(_\d+)?, d(_\d+)?\) became `),
		"how many lanes are left at position d, a multiple of 16: the masks of AVX-512 count modulo 32",
	},
	{
		regexp.MustCompile(`: (le\(tiles, 5\)|sub\(tiles, 1\)) became `),
		"how the rows of a product are shared out: some items get more of them, and others fewer",
	},
	{
		regexp.MustCompile(`: sub\(mul\(4, width\), 1\) became add`),
		"where a loop over four vectors ends: one over single vectors takes what is left",
	},
}

// isHarmless returns the harmless exchange that was made, nil if it was none.
func isHarmless(did string) *exchange {
	for _, x := range harmless {
		if x.did.MatchString(did) {
			return x
		}
	}
	return nil
}
