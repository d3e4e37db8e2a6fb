package mutation

import "regexp"

// harmlessLeft are what may be left out of a Metal kernel without anything to be seen.
var harmlessLeft = []*exchange{
	{
		regexp.MustCompile(`: (bounds guard|condition) more$`),
		"one step more than the depth has: its loads are bounded by themselves, and the slice that it fills is not read",
	},
	{
		regexp.MustCompile(`: condition ne\(args\.wanted_\w+, 0\)$`),
		"every launch here wants the outputs that callers may leave out",
	},
	{
		regexp.MustCompile(`: condition ne\(\w+_before, \w+\)$`),
		"spares an exponential: where the maximum stays the sum is multiplied by exp(0), which is 1",
	},
	{
		regexp.MustCompile(`: condition lt\(slab, args\.size_\w+\)$`),
		"spares an exponential: where the row ends in the first slab the sum that is multiplied is 0",
	},
	{
		regexp.MustCompile(`: condition lt\(\w+_[23], args\.size_\w+\)$`),
		"an element beyond the row: registers still hold an earlier one, which a maximum has had, and the sum of a column that is not there is not stored",
	},
	{
		regexp.MustCompile(`_cross_entropy(_mean)?_[a-z0-9_]+: condition (t|t_2|counted|ne\(count, 0\))$`),
		"spares a sum that the loss of this row does not take: that of the average without smoothing, that of a row that does not count; 0 times what a maximum rose",
	},
	{
		regexp.MustCompile(`: condition or\(better\(\w+_value, \w+_(2|reduced)\), `),
		"joins a part with nothing",
	},
}

// harmless reports whether what o leaves out need not be found out.
func (o *outcome) harmless() bool {
	for _, x := range harmlessLeft {
		if x.did.MatchString(o.String()) {
			return true
		}
	}
	return false
}
