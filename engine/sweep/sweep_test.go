package sweep

import (
	"fmt"
	"slices"
	"testing"
)

// The samples of different commits cover the whole sweep, and each is a part of it that does not
// change while the commit does not.
func TestSample(t *testing.T) {
	list := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	t.Setenv("REVIEWER_EVERY", "")
	t.Setenv("REVIEWER_SAMPLE", "")
	if got := Nth(list, 4); !slices.Equal(got, []int{0, 4, 8}) || Some(3, 30) != 3 {
		t.Errorf("without a sample: %v", got)
	}
	seen := map[int]bool{}
	for commit := range 50 {
		t.Setenv("REVIEWER_SAMPLE", fmt.Sprint("commit ", commit))
		got := Nth(list, 4)
		if again := Nth(list, 4); !slices.Equal(got, again) || len(got) < 2 {
			t.Errorf("%d: %v, and again %v", commit, got, again)
		}
		for _, i := range list {
			if Has(i, 4) != slices.Contains(got, i) {
				t.Errorf("%d: %v and Has(%d) differ", commit, got, i)
			}
			seen[i] = seen[i] || Has(i, 4)
		}
		if !slices.Equal(Nth(list, 1), list) {
			t.Errorf("one of one is %v", Nth(list, 1))
		}
	}
	for _, i := range list {
		if !seen[i] {
			t.Errorf("%d is in no sample", i)
		}
	}
	t.Setenv("REVIEWER_EVERY", "1")
	if !Has(1, 4) || !Has(2, 4) || Some(3, 30) != 30 || !Every() {
		t.Error("a complete sweep lacks something")
	}
}

// failed records whether a test failed.
type failed struct {
	testing.TB
	cleanup func()
	errors  int
	attr    string
}

func (f *failed) Cleanup(fn func())          { f.cleanup = fn }
func (f *failed) Failed() bool               { return f.errors > 0 }
func (f *failed) Errorf(string, ...any)      { f.errors++ }
func (f *failed) Attr(_ string, text string) { f.attr = text }

func TestCount(t *testing.T) {
	f := &failed{TB: t}
	Count(f, "things")
	f.cleanup()
	if f.errors != 1 {
		t.Error("nothing was checked, and the test passes")
	}
	f = &failed{TB: t}
	Count(f, "things").Add(3)
	if f.cleanup(); f.errors != 0 || len(f.attr) < 8 || f.attr[:8] != "3 things" {
		t.Errorf("%d errors, %q", f.errors, f.attr)
	}
}
