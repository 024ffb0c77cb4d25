package place

import (
	"path"
	"slices"
	"strings"
)

// testDirs are folders that hold tests and what they are compared with, inside
// of a project; plainTestDirs mean so wherever they lie.
var (
	testDirs = []string{"test", "tests", "testing", "e2e", "fixtures", "fixture", "golden", "goldens", "cypress", "unittests",
		"integration-tests", "integration_tests", "functional-tests"}
	plainTestDirs = []string{"testdata", "__tests__", "__test__", "__snapshots__", "__fixtures__", "__mocks__", "testfixtures",
		"test-fixtures"}
)

// testSettings are files that say which tests are run and when they count as
// passed, by the tools' own names.
var testSettings = []string{"conftest.py", "pytest.ini", "tox.ini", "noxfile.py", ".coveragerc", ".rspec", ".mocharc",
	".nycrc", "phpunit.xml", "phpunit.xml.dist", "pest.php", "behat.yml", "cucumber.yml", "codecept.yml", "karma.conf.js",
	"karma.conf.ts", "protractor.conf.js", "wdio.conf.js", "wdio.conf.ts", "nightwatch.conf.js", "testng.xml",
	"xunit.runner.json", "codecov.yml", ".codecov.yml", "spec_helper.rb", "rails_helper.rb", "test_helper.rb", "test_helper.exs",
	"jest.setup.js", "jest.setup.ts", "vitest.setup.ts", "setuptests.js", "setuptests.ts"}

// testFile says that a path is a test, belongs to one or sets tests up, by the
// conventions of languages and tools. inside: the path is that in the
// workspace, where folders called test mean what they say.
func testFile(p string, inside bool) bool {
	base, low := path.Base(p), strings.ToLower(p)
	parts := strings.Split(strings.Trim(low, "/"), "/")
	for _, part := range parts {
		if slices.Contains(plainTestDirs, part) || inside && slices.Contains(testDirs, part) {
			return true
		}
	}
	last := parts[len(parts)-1]
	return slices.Contains(testSettings, last) || testSetting(last) || testName(base, last) ||
		inside && (parts[0] == "spec" || parts[0] == "specs") && strings.HasSuffix(last, ".rb")
}

// testSetting knows jest.config.ts, .mocharc.json and their like.
func testSetting(last string) bool {
	for _, lead := range []string{"jest.config.", "vitest.config.", "vitest.workspace.", "playwright.config.", "cypress.config.",
		"ava.config.", ".mocharc.", ".nycrc."} {
		if strings.HasPrefix(last, lead) {
			return true
		}
	}
	return false
}

// testName goes by the name alone. base is as written: CartTest.java is a test,
// latest.java is none.
func testName(base, last string) bool {
	ext := path.Ext(last)
	stem := strings.TrimSuffix(last, ext)
	switch ext {
	case ".snap", ".approved", ".golden", ".bats", ".feature":
		return true
	case ".go", ".exs", ".dart", ".c", ".cc", ".cpp", ".rs", ".lua", ".sh", ".zig", ".erl", ".el", ".clj":
		return strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_tests") || strings.HasPrefix(stem, "test_") && ext != ".go"
	case ".py":
		return strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test") || stem == "tests"
	case ".rb":
		return strings.HasSuffix(stem, "_spec") || strings.HasSuffix(stem, "_test") || strings.HasPrefix(stem, "test_")
	case ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".coffee":
		return strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec") || strings.HasSuffix(stem, ".cy") ||
			strings.HasSuffix(stem, "-test") || strings.HasSuffix(stem, ".e2e")
	case ".java", ".kt", ".kts", ".scala", ".groovy", ".cs", ".fs", ".vb", ".swift", ".php", ".m", ".hs":
		name := base[:len(base)-len(ext)]
		for _, end := range []string{"Test", "Tests", "TestCase", "Spec", "Specs", "IT"} {
			if rest, ok := strings.CutSuffix(name, end); ok && rest != "" && (end != "IT" || LowerLast(rest)) {
				return true
			}
		}
	}
	return false
}

// LowerLast reports whether a text ends with a lower-case letter.
func LowerLast(s string) bool { return s[len(s)-1] >= 'a' && s[len(s)-1] <= 'z' }
