package sim
import ("testing";"os";"context";"path/filepath")
func TestOne(t *testing.T) {
	src, err := os.ReadFile(os.Getenv("MSL"))
	if err != nil { t.Skip() }
	l, err := Check(context.Background(), "x", src)
	for _, f := range l { t.Log(f) }
	t.Log(err)
}
func TestBuildAll(t *testing.T) {
	fs, _ := filepath.Glob("testdata/accepted/*.metal")
	dir := t.TempDir()
	for _, f := range fs { src, _ := os.ReadFile(f); _, err := Build(context.Background(), dir, f, src, 0); t.Log(f, err) }
}
