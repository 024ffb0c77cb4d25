package policycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/skeleton"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/spf13/cobra"
)

func policyNewCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "new",
		Example: "  reviewer policy new bundle policy --name shop\n  reviewer policy new rule shop.kubectl --in policy",
		Short:   "Scaffold a bundle, rule, pattern or case with passing tests",
		Long: "The generated files pass `reviewer policy check` and `reviewer policy test`.\n" +
			"Existing files are never overwritten; new rows are appended to them. The first line of each new\n" +
			"YAML file names its JSON Schema in the folder .schema, for editors with a YAML language server; the\n" +
			"schemas are written again each time. Nothing else reads that folder: delete it if you do not want it.",
	}
	cmd = cli.Group(cmd, policyNewBundleCommand(a), policyNewRuleCommand(a), policyNewPatternCommand(a), policyNewCaseCommand(a))
	return newFromTemplate(a, cmd)
}

// policyFolder is a policy in a folder to which something is added.
type policyFolder struct {
	dir, layer string
	files      map[string][]byte  // that the digest covers
	effective  *bundles.Effective // with all layers, currently
	texts      map[string][]byte  // to be written: name under dir -> content
	added      []string           // the names of texts, in the order in which they came
	schemas    bool               // the policy has a folder of JSON Schemas, or gets one
}

// openPolicy reads the policy that something is to be added to. A broken policy must
// be fixed first: additions to it could not be checked. in gets the default if it is
// empty.
func openPolicy(in *string) (*policyFolder, error) {
	if *in == "" {
		var err error
		if *in, err = policyHere(); err != nil {
			return nil, fmt.Errorf("%w with --in, or create one: `reviewer policy new bundle policy`", err)
		}
	}
	dir := *in
	there, err := active.IsDir(dir)
	if err != nil {
		return nil, err
	}
	if !there || !isPolicy(dir) {
		return nil, fmt.Errorf("%w (--in names another folder)", notPolicy(dir))
	}
	u := &policyFolder{dir: dir, texts: map[string][]byte{}}
	if u.layer, err = active.LayerAt(dir); err != nil {
		return nil, fmt.Errorf("policy %s: %w", dir, err)
	}
	b, err := bundles.Load(os.DirFS(dir), u.layer)
	if err != nil {
		return nil, fmt.Errorf("%s has errors; see `reviewer policy check %s`: %w", dir, dir, err)
	}
	u.files = b.Files
	u.schemas = u.has(skeleton.SchemaFolder)
	return u, u.assemble(b)
}

func (u *policyFolder) assemble(b *bundles.Bundle) error {
	layers := []*bundles.Bundle{b}
	if u.layer != bundles.Base {
		base, err := bundles.Default()
		if err != nil {
			return err
		}
		layers = []*bundles.Bundle{base, b}
	}
	var err error
	u.effective, err = bundles.Assemble(layers...)
	return err
}

var idForm = engine.Regexp(`^[a-z0-9]+([_.-][a-z0-9]+)*$`)

// newID checks the id of a new rule: its form, and that it is unique.
func (u *policyFolder) newID(id string) error {
	if !idForm().MatchString(id) {
		return cli.Usage("id %q: expected lower-case words joined by . _ or -, such as shop.kubectl", id)
	}
	for _, l := range u.effective.Layers {
		for _, r := range l.Rules {
			if r.ID == id {
				return fmt.Errorf("id %q: the %s layer already has a rule with this id, in %s; choose another", id, l.Layer,
					r.Place("id", 0))
			}
		}
	}
	return nil
}

// add adds a file, or appends to an existing one.
func (u *policyFolder) add(list []skeleton.File) error {
	for _, f := range list {
		f.Name = u.place(f)
		old, err := os.ReadFile(filepath.Join(u.dir, filepath.FromSlash(f.Name)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			u.texts[f.Name] = []byte(f.Text)
			if u.schemas {
				u.texts[f.Name] = []byte(skeleton.SchemaLine(f.Name) + f.Text)
			}
		case err != nil:
			return err
		case !f.Adds:
			return fmt.Errorf("%s already exists; move it away, or choose another id", filepath.Join(u.dir, f.Name))
		default:
			u.texts[f.Name] = skeleton.Append(old, []byte(f.Text))
		}
		u.added = append(u.added, f.Name)
	}
	return nil
}

// place returns the path for a file: shop.yaml if it exists, instead of
// shop/shop.yaml.
func (u *policyFolder) place(f skeleton.File) string {
	dir, base := path.Split(f.Name)
	sibling := path.Join(path.Dir(path.Clean(dir)), base)
	if !f.Adds || path.Base(dir)+path.Ext(base) != base || !u.has(sibling) || u.has(f.Name) {
		return f.Name
	}
	return sibling
}

func (u *policyFolder) has(name string) bool {
	_, err := os.Stat(filepath.Join(u.dir, filepath.FromSlash(name)))
	return err == nil
}

// verify compiles the resulting policy before anything is written, and reads its new
// cases.
func (u *policyFolder) verify(ctx context.Context) error {
	after := map[string][]byte{}
	maps.Copy(after, u.files)
	for name, text := range u.texts {
		switch {
		case strings.HasPrefix(name, "cases/"):
			if _, err := cases.Parse(name, text); err != nil {
				return u.unfit(err)
			}
		case name == ".manifest", filepath.Ext(name) == ".yaml", filepath.Ext(name) == ".rego" && !strings.HasSuffix(name,
			"_test.rego"):
			after[name] = text
		}
	}
	b, err := bundles.FromFiles(after, u.layer)
	if err != nil {
		return u.unfit(err)
	}
	if err := u.assemble(b); err != nil {
		return u.unfit(err)
	}
	if err := wiring.Check(ctx, u.effective); err != nil {
		return u.unfit(err)
	}
	return nil
}

func (u *policyFolder) unfit(err error) error {
	return fmt.Errorf("nothing was written, since the result would not be a valid policy:\n%w", err)
}

// write puts the texts in their places, and returns where they are.
func (u *policyFolder) write() ([]skeletonFile, error) {
	var made []skeletonFile
	for _, name := range u.added {
		file := filepath.Join(u.dir, filepath.FromSlash(name))
		_, missing := os.Stat(file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return made, err
		}
		if err := term.WriteWhole(file, u.texts[name]); err != nil {
			return made, fmt.Errorf("write %s: %w", file, err)
		}
		made = append(made, skeletonFile{file, missing == nil})
	}
	if !u.schemas {
		return made, nil
	}
	list, err := skeleton.Schemas()
	if err != nil {
		return made, err
	}
	if !u.has(skeleton.SchemaFolder) {
		made = append(made, skeletonFile{filepath.Join(u.dir, skeleton.SchemaFolder), false})
		if err := os.Mkdir(filepath.Join(u.dir, skeleton.SchemaFolder), 0o755); err != nil {
			return made, err
		}
	}
	for _, f := range list {
		if err := term.WriteWhole(filepath.Join(u.dir, filepath.FromSlash(f.Name)), []byte(f.Text)); err != nil {
			return made, fmt.Errorf("write %s: %w", f.Name, err)
		}
	}
	return made, nil
}

// skeletonFile is a file that was written.
type skeletonFile struct {
	File  string `json:"file"`
	Added bool   `json:"added"` // to what was there; false: it is new
}

// scaffolded is the result of `policy new`.
type scaffolded struct {
	Files []skeletonFile `json:"files"`
	Next  string         `json:"next"` // the command to run now
}

func (b scaffolded) text(w io.Writer) {
	for _, f := range b.Files {
		word := "created"
		if f.Added {
			word = "added to"
		}
		fmt.Fprintf(w, "%s %s\n", term.Pad(word, len("added to")), f.File)
	}
	fmt.Fprintf(w, "\nNext:\n  %s\n", b.Next)
}

// finish checks and writes the additions, and prints the next step.
func finish(ctx context.Context, a *cli.App, out *term.Output, u *policyFolder, next string) error {
	if err := u.verify(ctx); err != nil {
		return err
	}
	made, err := u.write()
	if err != nil {
		return err
	}
	d := scaffolded{made, next}
	return errors.Join(out.Result(a.Stdout, d, d.text), a.NoteWritten(u.dir))
}

// ruleIDs lists the ids of all rules of the policy.
func (u *policyFolder) ruleIDs() []string {
	var ids []string
	for _, r := range u.effective.Rules() {
		ids = append(ids, r.ID)
	}
	slices.Sort(ids)
	return ids
}

func knownRule(from, id string, ids []string) error {
	if slices.Contains(ids, id) {
		return nil
	}
	if near := engine.Nearest(id, ids); near != "" {
		return fmt.Errorf("%sno rule has the id %q; did you mean %q?", from, id, near)
	}
	return fmt.Errorf("%sno rule has the id %q; `reviewer policy rules` lists them", from, id)
}
