package releasecmd

import (
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/fleet"
)

// Documents lists the output of these commands with -f json that no file in schemas describes.
func Documents() []cli.Document {
	return []cli.Document{
		{Command: "policy accept", Title: "your own policy as it was accepted", Of: acceptedDocument{}},
		{Command: "policy fleet", Title: "the state of the machines of a fleet", Of: fleet.Summary{}},
		{Command: "policy history", Title: "the policies that were active on this machine", Of: earlierPolicy{}, List: "policies"},
		{Command: "policy history restore", Title: "the policy that was restored", Of: restored{}},
		{Command: "policy list", Title: "the stored bundles", Of: storedBundle{}, List: "bundles"},
		{Command: "policy status", Title: "which policy is active", Of: StatusDocument{}},
		{Command: "policy trust show", Title: "the trust file that is active", Of: trustDocument{}},
		{Command: "policy trust sign", Title: "the trust file that was signed", Of: signedTrust{}},
		{Command: "policy trust rotate", Title: "the trust file that was activated", Of: rotatedTrust{}},
		{Command: "policy sign", Title: "the archive that was signed", Of: signedArchive{}},
		{Command: "policy push", Title: "what was pushed", Of: pushDocument{}},
		{Command: "policy pull", Title: "what was pulled", Of: pullDocument{}},
		{Command: "policy activate", Title: "what was activated", Of: active.Activated{}},
		{Command: "policy keygen", Title: "the key that was made", Of: madeKey{}},
	}
}
