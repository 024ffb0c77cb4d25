package policycmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/foreign"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/spf13/cobra"
)

func policyImportCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "import",
		Example: "  reviewer policy import claude-permissions .claude/settings.json -o policy/access/client.yaml",
		Short:   "Convert another tool's policy into an access list",
		Long: "Reads a policy of another tool and writes an access list, a file for a layer's access\n" +
			"folder. A rule that cannot be converted exactly is left out and kept as a comment. Each\n" +
			"is reported on standard error with its line and id, and so is the number of rules\n" +
			"converted and left out. Exit codes: 0 all rules were converted, 1 the file could not be\n" +
			"read, 2 some rules were left out, 3 usage error.",
	}
	return cli.Group(cmd, importSafeclawCommand(a), importPermissionsCommand(a))
}

// importing is one import: what every format needs.
type importing struct {
	origin string // what the policy is, for the list's first line
	out    string
	id     string
	force  bool
	read   func(file string, raw []byte, read foreign.Reader) (*foreign.Policy, error)
}

func (i *importing) flags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&i.out, "output", "o", "", "write the list to this file (default standard output)")
	cmd.Flags().StringVar(&i.id, "id", "", "id of the list (default: derived from the policy's name, if it has one)")
	cmd.Flags().BoolVar(&i.force, "force", false, "overwrite an existing file")
}

func importPolicy(a *cli.App, file string, i *importing) error {
	if err := i.check(); err != nil {
		return err
	}
	raw, err := readFileOr(a, file)
	if err != nil {
		return err
	}
	p, err := i.read(file, raw, cel.Validate)
	if err != nil {
		return err
	}
	if i.id != "" {
		p.List.ID = i.id
	}
	content, err := p.YAML(i.header(file, p)...)
	if err != nil {
		return err
	}
	if err := loads(content); err != nil {
		return err
	}
	if err := put(a, i.out, content); err != nil {
		return err
	}
	if i.out != "" {
		if err := a.NoteWritten(i.out); err != nil {
			return err
		}
	}
	return printMessages(a, file, p)
}

// check validates the list's id, and refuses to overwrite a file.
func (i *importing) check() error {
	if word := foreign.Word(i.id); i.id != word {
		return cli.Usage("--id %q: expected lower-case words joined by . _ or -, such as %q", i.id, cmp.Or(word, "team"))
	}
	if i.out == "" || i.force {
		return nil
	}
	_, err := os.Lstat(i.out)
	switch {
	case err == nil:
		return fmt.Errorf("%s already exists: give another name, or --force to overwrite it", i.out)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// readFileOr reads a file, or standard input for -.
func readFileOr(a *cli.App, file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(a.Stdin)
	}
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file", file)
	}
	return raw, err
}

func put(a *cli.App, file string, content []byte) error {
	if file == "" {
		_, err := a.Stdout.Write(content)
		return err
	}
	if err := term.WriteWhole(file, content); err != nil {
		return fmt.Errorf("write list: %w", err)
	}
	return nil
}

func (i *importing) header(file string, p *foreign.Policy) []string {
	if file == "-" {
		file = "standard input"
	}
	return []string{
		"Access rules, converted from " + i.origin + " in " + file + ".",
		"",
		"The first rule that matches is the list's answer: deny blocks the call,",
		"require_approval asks a person, allow leaves it to all other rules and to the",
		"agent's own prompts. Other lists and rules may only be stricter.",
		"",
		"To use it, save it as access/" + p.List.ID + ".yaml in the folder of a layer, such as",
		"policy in the state directory; `reviewer policy show` reports whether it loads.",
		"",
	}
}

// loads checks that the written list passes policy check: it is read, compiled, and
// none of its rules is shadowed. An error names the rule.
func loads(content []byte) error {
	lists, err := bundles.ParseAccess("list", content)
	if err != nil {
		return fmt.Errorf("the generated list does not load: %w", err)
	}
	for _, l := range lists {
		for i, r := range l.Rules {
			if n := slices.IndexFunc(l.Rules[:i], func(o bundles.AccessRule) bool { return o.Covers(r) }); n >= 0 {
				return fmt.Errorf("the generated list does not load: rule %s can never fire after rule %s", r.ID, l.Rules[n].ID)
			}
		}
		host, err := cel.Compile(wiring.AccessConditions(l))
		if err != nil {
			return fmt.Errorf("the generated list does not compile: %w", err)
		}
		for _, problem := range host.Check() {
			return fmt.Errorf("the generated list does not compile: %w", problem)
		}
	}
	return nil
}

// printMessages prints the messages, and counts the rules by outcome.
func printMessages(a *cli.App, file string, p *foreign.Policy) error {
	for _, r := range p.Remarks {
		place, about := file, ""
		if r.Line > 0 {
			place = fmt.Sprintf("%s:%d", file, r.Line)
		}
		if r.Rule != "" {
			about = "rule " + r.Rule + ": "
		}
		fmt.Fprintf(a.Stderr, "%s: %s%s\n", place, about, term.OneLine(r.Text, maxRemark))
	}
	n := p.Counts
	fmt.Fprintf(a.Stderr, "%s: %s converted, %d left out, %d without effect\n",
		file, term.Counted(n.Carried, "rule", "rules"), n.Left, n.Idle)
	if n.Left > 0 {
		return cli.Findings("%s: rules left out, since they cannot be converted exactly: %d; "+
			"the messages above say why; write access rules with the same meaning", file, n.Left)
	}
	return nil
}

// maxRemark bounds a remark: it may quote a pattern of any length.
const maxRemark = 1000
