package configcmd

import (
	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
)

// Documents lists the output of these commands with -f json that no file in schemas describes.
func Documents() []cli.Document {
	return []cli.Document{
		{Command: "config show", Title: "the settings with their layers", Of: bundles.Setting{}, List: "settings"},
		{Command: "config show said", Title: "the settings of each layer", Of: bundles.LayerSetting{}, List: "said"},
		{Command: "config check", Title: "problems in settings", Of: checked{}, List: "layers"},
	}
}
