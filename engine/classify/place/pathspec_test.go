package place

import "testing"

func TestPathspec(t *testing.T) {
	type is struct {
		name string
		root bool
	}
	for spec, want := range map[string]is{
		"": {"", false}, ".": {".", false}, "main.go": {"main.go", false}, "lib/": {"lib/", false}, "a:b": {"a:b", false},
		"*.go": {".", false}, "lib/*.go": {"lib/", false}, "lib/a?/b.go": {"lib/", false}, "/srv/shop/[ab]": {"/srv/shop/", false},
		":": {".", false}, ":/": {".", true}, ":/lib/a.go": {"lib/a.go", true}, ":/*.go": {".", true},
		":!lib": {".", false}, ":^lib": {".", false}, ":/!lib": {".", true}, ":!:lib": {".", false},
		":(top)lib": {"lib", true}, ":(glob)lib/**/*.go": {"lib/", false}, ":(top,icase)MAIN.GO": {".", true},
		":(exclude)lib": {".", false}, ":(attr:text)lib": {"lib", false}, ":(": {".", false},
	} {
		name, root := Pathspec(spec)
		if got := (is{name, root}); got != want {
			t.Errorf("%q: got %v, want %v", spec, got, want)
		}
	}
}
