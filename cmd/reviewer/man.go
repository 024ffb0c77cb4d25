//go:build manpages

package main

import (
	"os"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// releaseCommands adds the command that writes man pages. It exists only in the build
// of a release, so that released programs do not contain its library.
func releaseCommands(root *cobra.Command) {
	root.AddCommand(&cobra.Command{
		Use:    "man FOLDER",
		Hidden: true,
		Args:   cli.Needs(cli.Argument{Name: "FOLDER", What: "the folder for the pages"}),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root.DisableAutoGenTag = true
			header := doc.GenManHeader{Section: "1", Source: "reviewer " + cli.BuildVersion(), Manual: "reviewer"}
			return doc.GenManTree(root, &header, args[0])
		},
	})
}
