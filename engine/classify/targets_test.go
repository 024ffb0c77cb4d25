package classify

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const shopMakefile = `# the shop
include more.mk
OUT := /opt/out
DIRS = $(OUT)/a \
	${OUT}/b
ifeq ($(OS),Windows_NT)
  DEL = rm -f
else
  DEL = rm -rf
endif
define two
rm -r /opt/one
rm -r /opt/two
endef

.PHONY: all clean

all: build ; @echo done
build: /opt/gen
	@-rm -r $(OUT)
/opt/gen:
	touch $@

clean: OUT := /opt/out
clean: # says nothing
	$(RM) -r $(DIRS)
	cd web && \
	  rm -r cache

home:
	rm -r $$HOME/old; x=$$(echo /opt/c); rm -r $$x
either:
	$(DEL) /opt/d
both:
	$(two)
unset:
	rm -rf $(NOWHERE)/*
called:
	$(MAKE) home
	make -C web gone
%.gone: x
	rm -r /opt/$*
$(OUT)/t: x y
	rm -r $@ $< $^
eager: X := $(shell rm -r /opt/eager)
eager:
	echo $(X)
`

func TestRunTargets(t *testing.T) {
	w := diskWorld(map[string]string{
		"/srv/shop/Makefile":              shopMakefile,
		"/srv/shop/more.mk":               "more:\n\trm -r /opt/more\n",
		"/srv/shop/one.mk":                ".ONESHELL:\nx:\n\tcd /opt\n\trm -r one\n",
		"/srv/shop/web/Makefile":          "gone:\n\trm -r gone\n",
		"/srv/shop/web/x":                 "",
		"/srv/shop/package.json":          `{"scripts":{"prebuild":"rm -r /opt/pre","build":"rm -r","test":"vitest","posttest":"rm -r /opt/post","postinstall":"rm -r /opt/inst"}}`,
		"/srv/shop/justfile":              "set shell := ['bash']\nout := '/opt' / 'just'\nalias c := clean\n\n# first\nbuild: (gone 'x')\n    echo {{out}}\n\nclean dir='a' *rest: && last\n    @rm -r {{out}}/{{dir}} {{rest}}\nlast:\n    rm -r \"{{justfile_directory()}}/l\"\ngone what:\n    #!/usr/bin/env bash\n    cd /opt\n    rm -r {{what}}\n",
		"/srv/shop/Taskfile.yml":          "version: '3'\nvars: {OUT: /opt/task}\ntasks:\n  default: rm -r /opt/default\n  clean:\n    deps: [one, {task: two}]\n    dir: web\n    cmds:\n      - rm -r {{.OUT}}\n      - cmd: rm -r here\n      - task: three\n  one: [rm -r /opt/1]\n  two: {cmd: rm -r /opt/2}\n  three: {cmds: [rm -r /opt/3]}\n",
		"/srv/shop/.git/hooks/pre-commit": "#!/bin/sh\nexec 1>&2\nrm -r data \"$UNKNOWN\"\neval \"$LATER\"\n",
	}, nil)
	for command, want := range map[string][]string{
		"make":                   {"delete /opt/out", "create /opt/gen"},
		"make clean":             {"delete /opt/out/a", "delete /opt/out/b", "delete ./web/cache"},
		"make -j clean":          {"delete /opt/out/a", "delete /opt/out/b", "delete ./web/cache"},
		"make clean OUT=/opt/z":  {"delete /opt/z/a", "delete /opt/z/b", "delete ./web/cache"},
		"make -n clean":          nil,
		"make home":              {"delete ~/old", "delete /opt/c"},
		"make either":            {"delete /opt/d"},
		"make both":              {"delete /opt/one", "delete /opt/two"},
		"make unset":             {"delete /*", "delete ", "opaque target"},
		"make called":            {"delete ~/old", "delete /opt/c", "delete ./web/gone"},
		"make x.gone":            {"delete /opt/x"},
		"make /opt/out/t":        {"delete /opt/out/t", "delete ./x", "delete ./y"},
		"make eager":             {"delete /opt/eager"},
		"make -n eager":          {"delete /opt/eager"},
		"make more":              {"delete /opt/more"},
		"make nothing":           nil,
		"make -f one.mk":         {"delete ./one", "delete /opt/one"},
		"make -C web gone":       {"delete ./web/gone"},
		"cd web && make gone":    {"delete ./web/gone"},
		"npm run build dir":      {"delete /opt/pre", "delete ./dir"},
		"npm run build -- 'a b'": {"delete /opt/pre", "delete ./a b"},
		"npm test":               {"delete /opt/post"},
		"npm t":                  {"delete /opt/post"},
		"cd web && npm test":     {"delete /opt/post"},
		"yarn test":              {"delete /opt/post"},
		"pnpm run test":          {"delete /opt/post"},
		"bun run test":           {"delete /opt/post"},
		"npm ci":                 {"delete /opt/inst"},
		"npm run nothing":        nil,
		"npm ls":                 nil,
		"just":                   {"delete ./x", "delete /opt/x"},
		"just clean":             {"delete /opt/just/a", "delete ./l"},
		"just c b d":             {"delete /opt/just/b", "delete ./d", "delete ./l"},
		"just out=/opt/y clean":  {"delete /opt/y/a", "delete ./l"},
		"just --list":            nil,
		"cd web && just clean":   {"delete /opt/just/a", "delete ./l"},
		"task":                   {"delete /opt/default"},
		"task clean":             {"delete /opt/1", "delete /opt/2", "delete /opt/3", "delete /opt/task", "delete ./web/here"},
		"git commit -m x":        {"delete ./data"},
		"cd web && git commit":   {"delete ./data"},
		"git status":             nil,
		"git commit --no-verify": nil,
	} {
		got := changesOf(filesAction(t, w, command))
		if diff := cmp.Diff(sorted(want), slices.Compact(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", command, diff)
		}
	}
}
