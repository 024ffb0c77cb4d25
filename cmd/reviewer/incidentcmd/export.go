package incidentcmd

import (
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/incident"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

func exportCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var to []string
	cmd := &cobra.Command{
		Use:   "export [ID]",
		Short: "Export the report about an incident as an HTML page or as JSON, or the settings that it recommends",
		Long: "html is one page without scripts that loads nothing. patch is the recommended configuration as a\n" +
			"settings.yaml: put it into the folder of a policy layer, and check it with `reviewer policy check`.\n" +
			"Every text is masked as in the log, but paths and commands are included.\n\n" +
			"With --encrypt-to, or the setting interventions.encrypt_incidents_to, the export is encrypted for\n" +
			"these public keys in the format of age (age-encryption.org): `age -d -i KEY FILE` reads it.",
		Example: "  reviewer incident export last -o incident.html\n  reviewer incident export last -f patch -o stricter/settings.yaml",
		Args:    cli.AtMost(1),
		RunE: func(_ *cobra.Command, args []string) error {
			i, err := Reported(a, cli.OrLast(args))
			if err != nil {
				return err
			}
			store, err := a.OpenStore()
			if err != nil {
				return err
			}
			readers, err := recipients(store.Dir, to)
			if err != nil {
				return err
			}
			return out.Write(a.Stdout, func(w io.Writer) error {
				return encrypted(w, readers, func(w io.Writer) error { return export(w, out.Format, i) })
			})
		},
	}
	out.Flags(cmd, "html", "json", "patch")
	cmd.Flags().StringArrayVar(&to, "encrypt-to", nil, "encrypt the export for this age public key; may be repeated")
	return cmd
}

func export(w io.Writer, format string, i *incident.Incident) error {
	switch format {
	case "json":
		return term.WriteDocument(w, i)
	case "patch":
		return writePatch(w, i)
	}
	return WritePage(w, i)
}

// writePatch writes the recommended configuration as the settings of a policy layer.
func writePatch(w io.Writer, i *incident.Incident) error {
	if len(i.Advice.Configuration) == 0 {
		return fmt.Errorf("the policy recommends no settings for %s", i.Cause.Issue)
	}
	text, err := patch(i)
	if err == nil {
		_, err = fmt.Fprintf(w, "# Recommended after incident %s (%s).\n%s", i.ID, i.Cause.Issue, text)
	}
	return err
}

// patch is the recommended configuration as YAML; empty: there is none.
func patch(i *incident.Incident) (string, error) {
	if len(i.Advice.Configuration) == 0 {
		return "", nil
	}
	text, err := yaml.Marshal(i.Advice.Configuration)
	if err != nil {
		return "", fmt.Errorf("write the recommended configuration: %w", err)
	}
	return string(text), nil
}
