package engine

import "testing"

func TestNamesIn(t *testing.T) {
	for pattern, want := range map[string]int{
		`(?i)[.](md|mdx|txt|rst)$`: 4, `^(-f|--force|--all|-a)$`: 0, `(^|/)(\.npmrc|[^/]*requirements[^/]*\.txt|Gemfile)$`: 3,
		`^((Docker|Container)file|Jenkinsfile)$`: 2, `[a|b|c|d]+`: 0, `(?:^|[^a-z])(prod|production|live)([^a-z]|$)`: 3,
		`\bi?like|~\*?|similar\s+to|rlike`: 3, `a|b|c`: 0, `(`: 0, ``: 0, `name`: 1, `__(push|(create|update)_(file|files))$`: 2,
	} {
		if got := NamesIn(pattern); got != want {
			t.Errorf("%s: %d, want %d", pattern, got, want)
		}
	}
}
