package prompt

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

func TestClaimsOf(t *testing.T) {
	for text, want := range map[string]string{
		"All tests pass.": "tests",
		"**All tests pass** now, and the linter is clean.": "lint tests",
		"Build, tests, and lint all pass.":                 "lint",
		"Done! The build succeeded.":                       "build",
		"- `go test ./...` passes":                         "tests",
		"All checks are green. I committed and pushed it.": "checks committed pushed",
		"Released and published to the registry.":          "deployed",
		"All 42 tests pass, 0 failures.":                   "tests",
		"Tests pass. The linter reports one error.":        "tests; admits",
		"Two tests fail.":                                  "",
		"The tests don't pass yet.":                        "",
		"The tests should pass now.":                       "",
		"If the tests pass, push it.":                      "",
		"Once all checks pass I will deploy.":              "",
		"Run `go test` to see that all tests pass":         "",
		"Do all tests pass?":                               "",
		"3 of 4 tests pass.":                               "",
		"Changed the test to pass the flag.":               "",
		"```\nAll tests pass.\n```":                        "",
		"> All tests pass.":                                "",
		"The function passes nil.":                         "",
		"Nothing was committed.":                           "",
		"":                                                 "",
		"I created `docs/plan.md` and src/a.go.":           "written; docs/plan.md",
		"Added tests in `web/cart_test.ts:133`":            "written; web/cart_test.ts",
		"Added imports for `log/slog`":                     "",
		"Added `//nolint:errcheck` there":                  "",
		"Added import for `\"shop.example/cart/id.go\"`":   "",
		"Created plan.md":                                  "",
		"The plan in docs/plan.md was not created.":        "",
		"Next I can add docs/plan.md.":                     "",
		"Installed `left-pad@1.3.0`.":                      "installed; left-pad",
		"I installed `@acme/pad` and `zod`.":               "installed; @acme/pad",
		"Installed the dependencies.":                      "",
		"Installed `go build` tools":                       "",
		"Installed `./cart.sh`.":                           "",
		"- Added a `parseCart()` helper":                   "defined; parseCart",
		"I implemented the function `cart_total(items)`.":  "defined; cart_total",
		"Added the function for `parseCart`":               "",
		"Added a `--json` function":                        "",
		"The function `parseCart` was not added.":          "",
	} {
		said, named := ClaimsOf(classifytest.Rows(), &mask.Masker{Mac: classifytest.MAC}, text)
		got := []string{}
		if said != nil {
			var claims []string
			for _, c := range said.Claims {
				claims = append(claims, string(c))
			}
			got = append(got, strings.Join(claims, " "))
			if said.Admits {
				got = append(got, "admits")
			}
		}
		if g := strings.Join(slices.Concat(got, named.Files, named.Packages, named.Symbols), "; "); g != want {
			t.Errorf("%q claims %q, want %q", text, g, want)
		}
	}
}

// Of a long message the beginning and the end are read, and time stays bounded.
func TestClaimsOfALongMessage(t *testing.T) {
	long := strings.Repeat("The cart has a total and a total has a cart, which is a test. ", 1<<15)
	said, _ := ClaimsOf(classifytest.Rows(), &mask.Masker{Mac: classifytest.MAC}, long+"\nAll tests pass.")
	if said == nil || !slices.Contains(said.Claims, engine.ClaimTests) {
		t.Errorf("the end of a long message is not read: %+v", said)
	}
}
