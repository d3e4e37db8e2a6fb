package report_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/kernelgen/kgen/train/metrics"
	"github.com/kernelgen/kgen/train/report"
)

// A run leaves its metrics in a file; the page is made of them when it ends.
func ExampleWriteFile() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	lines := `{"step":1,"loss":4.17,"rate":0.0001,"tokens_per_second":41000}
{"step":2,"loss":3.9,"rate":0.0002,"tokens_per_second":40500}
{"step":2,"validation_loss":3.95,"sample":"Call me"}
`
	path := filepath.Join(dir, "metrics.jsonl")
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		log.Fatal(err)
	}
	records, err := metrics.Read(path)
	if err != nil {
		log.Fatal(err)
	}
	page := filepath.Join(dir, "report.html")
	err = report.WriteFile(page, report.Run{
		Name:    "a short run",
		Records: records,
		Config:  "steps = 2\n",
		Ops:     []report.Op{{Name: "matmul", Seconds: 0.012, Calls: 24}},
	})
	if err != nil {
		log.Fatal(err)
	}
	html, err := os.ReadFile(page)
	fmt.Println(string(html[:15]), err)
	// Output: <!DOCTYPE html> <nil>
}
