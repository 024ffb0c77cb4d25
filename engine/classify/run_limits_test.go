package classify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// Files that are made to take long do not: what is over the budget is opaque.
func TestTaskLimits(t *testing.T) {
	var twice, joined strings.Builder
	for i := range 40 {
		fmt.Fprintf(&twice, "A%d = $(A%d)$(A%d)x$(shell echo $(A%d))\n", i, i+1, i+1, i+1)
		fmt.Fprintf(&joined, "a%d := a%d + 'x' + a%d\n", i, i+1, i+1)
	}
	w := diskWorld(map[string]string{
		"/srv/shop/Makefile": twice.String() + "all: $(A0)\n\techo $(A0)\n\trm -r $(A1)\n",
		"/srv/shop/justfile": joined.String() + "all:\n    rm -r {{a0}}\n",
		"/srv/shop/same.mk":  strings.Repeat("x y z: a b c\n\t@echo $@ $<\n", 8000),
		"/srv/shop/chain.mk": chain(8000),
		"/srv/shop/stem.mk":  "%: %a %b\n%a: %c z%\nz%: %d %e\nq%: %f\n%e: %g %h\n%d: q% %i\n",
	}, nil)
	for _, command := range []string{"make", "just", "make -f same.mk z", "make -f chain.mk t0", "make -f stem.mk t"} {
		start := osfile.ProcessTime()
		filesAction(t, w, command)
		if took := osfile.ProcessTime() - start; took > 20*time.Second {
			t.Errorf("%s took %v of processor time", command, took)
		}
	}
}

// chain is a makefile in which each target needs the next.
func chain(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "t%d: t%d\n\t@echo $@\n", i, i+1)
	}
	return b.String()
}
