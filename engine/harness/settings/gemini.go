package settings

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/harness"

	"github.com/agent-reviewer/reviewer/engine"
)

// ClientRule is a denial of the policy that an agent applies itself, without a hook.
type ClientRule struct {
	Agent   string   `json:"agent"`
	Tools   []string `json:"tools"`
	Pattern string   `json:"pattern"` // in the arguments of a call, as JSON
	Message string   `json:"message"`
}

// geminiPolicyMark is in the admin policy that reviewer writes for Gemini CLI.
const geminiPolicyMark = "# written by `reviewer install gemini --managed`"

const geminiPolicyHead = geminiPolicyMark + `; removed by ` + "`reviewer uninstall gemini --managed`" + `
#
# These rules are the setting guard.client_rules of reviewer's policy. They apply even if a repository names
# reviewer's hook in hooksConfig.disabled. Everything else is decided by the hook.
`

// geminiRules is the format of an admin policy of Gemini CLI.
func geminiRules() Format {
	f := ownFile(geminiPolicyMark, geminiPolicy)
	f.Rules = true
	return f
}

// repeatedGroup matches what Gemini CLI refuses in an expression: a repeated group with a repetition
// in it.
var repeatedGroup = engine.Regexp(`\([^)]*[*+?{].*\)[*+?{]`)

func (r ClientRule) check() error {
	if _, err := regexp.Compile(r.Pattern); err != nil {
		return err
	}
	if found := repeatedGroup().FindString(r.Pattern); found != "" {
		return fmt.Errorf("a group with a repetition in it is repeated: %s", found)
	}
	return nil
}

// geminiPolicy is an admin policy. The client leaves out a rule whose expression it refuses, so that is
// an error here.
func geminiPolicy(c HookCommand) (string, error) {
	var b strings.Builder
	b.WriteString(geminiPolicyHead)
	for i, r := range c.Rules {
		if r.Agent != harness.Gemini {
			continue
		}
		if err := r.check(); err != nil {
			return "", fmt.Errorf("the setting guard.client_rules[%d].pattern cannot be used: %w; correct it in the policy", i, err)
		}
		var tools []string
		for _, t := range r.Tools {
			tools = append(tools, quoteTOML(t))
		}
		fmt.Fprintf(&b, "\n[[rule]]\ntoolName = [%s]\nargsPattern = %s\ndecision = \"deny\"\npriority = 900\ndenyMessage = %s\n",
			strings.Join(tools, ", "), quoteTOML(r.Pattern), quoteTOML(r.Message))
	}
	return b.String(), nil
}
