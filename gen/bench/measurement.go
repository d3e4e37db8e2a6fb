package bench

// Measurement is the time of one call of an op.
type Measurement struct {
	Name    string   `json:"name"`
	Static  string   `json:"static"` // the choices of the op, such as nt
	DType   string   `json:"dtype"`
	Axes    []Extent `json:"axes"`
	Seconds float64  `json:"seconds"`
	Bytes   int64    `json:"bytes"` // least possible traffic: every argument read or written once
	Flops   int64    `json:"flops"`
	// Limit names what the op is measured by: "memcpy", in bytes read and
	// written, or for products "fma", in float operations of multiply-adds.
	// Rate is what the machine did of that in a second, with as many threads and
	// as much memory in use, and Share the op's part of it.
	Limit string  `json:"limit"`
	Rate  float64 `json:"rate"`
	Share float64 `json:"share"`

	size string
}

// The limits.
const (
	Memcpy = "memcpy"
	FMA    = "fma"
)

func newMeasurement(c *Case, a answer) Measurement {
	m := Measurement{
		Name: c.Op, Static: c.Static, DType: c.DType, Axes: c.Extents, Seconds: a.Seconds, Bytes: c.Bytes, Flops: c.Flops,
		size: c.Size(),
	}
	done := c.Bytes
	m.Limit, m.Rate = Memcpy, a.Copy
	if c.Product {
		done = c.Flops
		m.Limit, m.Rate = FMA, a.Peak
	}
	m.Share = float64(done) / a.Seconds / m.Rate
	return m
}

// Size writes the extents as in "R=256 D=1024".
func (m *Measurement) Size() string { return m.size }
