package main

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"encoding/json"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/approvalscmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/auditcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/checkpointcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/configcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/explaincmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/incidentcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/notifycmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/policycmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/releasecmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/runcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/sessioncmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/simulatecmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/schemas"
	"github.com/spf13/cobra"
)

func schemaCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:   "schema [NAME]",
		Short: "Print the JSON Schema of a document, or list the documents",
		Long: "NAME is one of the names that `reviewer schema` lists: documents of a policy, documents of\n" +
			"the log, and the -f json output of commands, named after the command, with dashes for spaces.",
		Example: "  reviewer schema\n  reviewer schema rule > rule.schema.json\n  reviewer schema audit-verify",
		Args:    cli.AtMost(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return schemaNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listSchemas(a, &out)
			}
			raw, err := schemaOf(args[0])
			if err != nil {
				return err
			}
			return out.Write(a.Stdout, func(w io.Writer) error {
				_, err := w.Write(raw)
				return err
			})
		},
	}
	out.Flags(cmd, term.Text, "json")
	return cmd
}

// outputDocuments are the output documents of this program's commands.
func outputDocuments() []cli.Document {
	own := []cli.Document{
		{Command: "version", Title: "versions that decisions depend on", Of: versionDocument{}},
		{Command: "doctor", Title: "results of the checks", Of: examined{}},
		{Command: "install", Title: "result of the installation", Of: installation{}},
		{Command: "install --detect", Title: "results of the installation for several agents", Of: installation{}, List: "agents"},
		{Command: "uninstall", Title: "result of the removal", Of: removal{}},
		{Command: "uninstall --all", Title: "results of the removal for several agents", Of: removal{}, List: "agents"},
		{Command: "agents", Title: "what each agent lets a hook do", Of: agentsDocument{}},
		{Command: "allow", Title: "the call that was allowed", Of: allowedDocument{}},
		{Command: "denials", Title: "the calls that were held up", Of: heldUpDocument{}, List: "denials"},
		{Command: "trash --list", Title: "what is in the trash", Of: trashedEntry{}, List: "entries"},
		{Command: "schema", Title: "list of the documents", Of: schemaName{}, List: "schemas"},
	}
	return slices.Concat(own, runcmd.Documents(), simulatecmd.Documents(), auditcmd.Documents(), sessioncmd.Documents(),
		incidentcmd.Documents(), checkpointcmd.Documents(), notifycmd.Documents(), approvalscmd.Documents(),
		configcmd.Documents(), explaincmd.Documents(), policycmd.Documents(), releasecmd.Documents())
}

// documentName is a command's name with dashes: "trash --list" is trash-list.
func documentName(command string) string {
	return strings.Join(strings.FieldsFunc(command, func(r rune) bool { return r == ' ' || r == '-' || r == '=' }), "-")
}

// schemaNames lists the documents that have a schema.
func schemaNames() []string {
	names := []string{}
	files, err := fs.Glob(schemas.FS, "*.json")
	if err != nil {
		return nil // only a bad pattern is an error, and this is not one
	}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f, ".json"))
	}
	for _, d := range outputDocuments() {
		names = append(names, documentName(d.Command))
	}
	slices.Sort(names)
	return names
}

func schemaOf(name string) ([]byte, error) {
	for _, d := range outputDocuments() {
		if documentName(d.Command) == name {
			return d.Schema()
		}
	}
	if !slices.Contains(schemaNames(), name) {
		return nil, term.Unknown("document", name, schemaNames())
	}
	return schemas.FS.ReadFile(name + ".json")
}

// schemaName is a line of the list.
type schemaName struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

func listSchemas(a *cli.App, out *term.Output) error {
	list := []schemaName{}
	for _, name := range schemaNames() {
		raw, err := schemaOf(name)
		if err != nil {
			return err
		}
		var d struct{ Title string }
		if err := json.Unmarshal(raw, &d); err != nil {
			return fmt.Errorf("schema %s: %w", name, err)
		}
		list = append(list, schemaName{name, d.Title})
	}
	return out.Write(a.Stdout, func(w io.Writer) error {
		if out.Format == "json" {
			return term.WriteList(w, "schemas", list)
		}
		for _, s := range list {
			fmt.Fprintf(w, "%s  %s\n", term.Pad(s.Name, 26), s.Title)
		}
		return nil
	})
}
