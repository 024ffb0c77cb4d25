package classify

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// Whatever is in a file of tasks, running its targets ends, and a recipe
// that is put after it is still seen.
func FuzzTasks(f *testing.F) {
	f.Add(shopMakefile, true)
	f.Add("x := `echo a` + 'b' / \"c\"\nalias y := z\nz a='1' *b: (z 'q') && z\n    @echo {{x}} {{{{ {{a}}\n", false)
	f.Add("A = $(A) $(B\nB = ${A}\nall: $(A) all\n\t$(call A) $(foreach x,$(B),$x)\n", true)
	f.Fuzz(func(t *testing.T, text string, makefile bool) {
		name, command := "/srv/shop/justfile", "just probe"
		if makefile {
			name, command = "/srv/shop/Makefile", "make probe"
		}
		if len(text) > 4096 || strings.Contains(text, "probe") || strings.ContainsAny(text, "\x00"+abstract.Holes) {
			t.Skip()
		}
		text += "\n\n#\nprobe:\n\trm -r /opt/probe\n"
		for _, got := range changesOf(filesAction(t, diskWorld(map[string]string{name: text}, nil), command)) {
			if got == "delete /opt/probe" || strings.HasPrefix(got, "opaque") {
				return
			}
		}
		if !strings.Contains(text, "define") && !strings.Contains(text, "\\\n") {
			t.Fatal("the recipe was not seen")
		}
	})
}
