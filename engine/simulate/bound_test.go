package simulate

import (
	"math"
	"testing"
)

// TestUpperBound compares with known values: none of n is 1 - 0.05^(1/n), near three over n.
func TestUpperBound(t *testing.T) {
	for _, c := range []struct {
		k, n int64
		want float64
	}{
		{0, 0, 1}, {3, 3, 1}, {0, 1, 0.95}, {0, 10, 0.258866}, {0, 100, 0.029513}, {0, 652, 0.004584}, {1, 10, 0.394163}, {2, 20, 0.282619}, {5, 100, 0.102253},
	} {
		if got := UpperBound(c.k, c.n, 0.05); math.Abs(got-c.want) > 2e-5 {
			t.Errorf("%d of %d: got %.6f, want %.6f", c.k, c.n, got, c.want)
		}
	}
}
