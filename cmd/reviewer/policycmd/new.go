package policycmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/here"
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
		Use:   "new",
		Short: "Begin a bundle, a rule, a pattern or a case, with tests that pass",
		Long: "What is written passes `reviewer policy check` and `reviewer policy test` as it is.\n" +
			"Nothing that is there is overwritten: new rows stand behind those of a file.",
	}
	return cli.Group(cmd, policyNewBundleCommand(a), policyNewRuleCommand(a), policyNewPatternCommand(a), policyNewCaseCommand(a))
}

// author is a policy in a folder that something is added to.
type author struct {
	dir, layer string
	files      map[string][]byte  // that count, as they are read
	effective  *bundles.Effective // with all layers, as it is now
	texts      map[string][]byte  // to be written: name below dir -> content
	added      []string           // the names of texts, in the order in which they came
}

// openPolicy reads the policy that something is to be added to. One that is
// broken is mended first: what is added could not be checked.
func openPolicy(dir string) (*author, error) {
	there, err := here.IsDir(dir)
	if err != nil {
		return nil, err
	}
	if !there || !isPolicy(dir) {
		return nil, fmt.Errorf("%s is no policy; `reviewer policy new bundle %s` begins one, or name one with --in", dir, dir)
	}
	u := &author{dir: dir, texts: map[string][]byte{}}
	if u.layer, err = here.LayerAt(dir); err != nil {
		return nil, fmt.Errorf("policy %s: %w", dir, err)
	}
	b, err := bundles.Load(os.DirFS(dir), u.layer)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read as it is; see `reviewer policy check %s`: %w", dir, dir, err)
	}
	u.files = b.Files
	return u, u.assemble(b)
}

func (u *author) assemble(b *bundles.Bundle) error {
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

// newID checks the id of a rule that is to be: its form, and that no other has it.
func (u *author) newID(id string) error {
	if !idForm().MatchString(id) {
		return fmt.Errorf("id %q: expected lower-case words joined by . _ or -, such as shop.kubectl", id)
	}
	for _, l := range u.effective.Layers {
		for _, r := range l.Rules {
			if r.ID == id {
				return fmt.Errorf("id %q: the %s layer has a rule of this name, in %s; choose another", id, l.Layer, r.Place("id", 0))
			}
		}
	}
	return nil
}

// add takes a file in, behind what there is where it adds to a file.
func (u *author) add(list []skeleton.File) error {
	for _, f := range list {
		f.Name = u.place(f)
		old, err := os.ReadFile(filepath.Join(u.dir, filepath.FromSlash(f.Name)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			u.texts[f.Name] = []byte(f.Text)
		case err != nil:
			return err
		case !f.Adds:
			return fmt.Errorf("%s is there already; move it away, or choose another id", filepath.Join(u.dir, f.Name))
		default:
			u.texts[f.Name] = skeleton.Append(old, []byte(f.Text))
		}
		u.added = append(u.added, f.Name)
	}
	return nil
}

// place is where a file goes: shop.yaml where there is such, instead of
// shop/shop.yaml.
func (u *author) place(f skeleton.File) string {
	dir, base := path.Split(f.Name)
	beside := path.Join(path.Dir(path.Clean(dir)), base)
	if !f.Adds || path.Base(dir)+path.Ext(base) != base || !u.has(beside) || u.has(f.Name) {
		return f.Name
	}
	return beside
}

func (u *author) has(name string) bool {
	_, err := os.Stat(filepath.Join(u.dir, filepath.FromSlash(name)))
	return err == nil
}

// verify compiles the policy as it is going to be, before anything of it is
// written, and reads its new cases.
func (u *author) verify(ctx context.Context) error {
	after := map[string][]byte{}
	maps.Copy(after, u.files)
	for name, text := range u.texts {
		switch {
		case strings.HasPrefix(name, "cases/"):
			if _, err := cases.Parse(name, text); err != nil {
				return u.unfit(err)
			}
		case name == ".manifest", filepath.Ext(name) == ".yaml", filepath.Ext(name) == ".rego" && !strings.HasSuffix(name, "_test.rego"):
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

func (u *author) unfit(err error) error {
	return fmt.Errorf("nothing was written, since what comes of it is no policy:\n%w", err)
}

// write puts the texts in their places, and says where they are.
func (u *author) write(a *cli.App) error {
	for _, name := range u.added {
		file := filepath.Join(u.dir, filepath.FromSlash(name))
		word := "made"
		if _, err := os.Stat(file); err == nil {
			word = "added to"
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := term.WriteWhole(file, u.texts[name]); err != nil {
			return fmt.Errorf("write %s: %w", file, err)
		}
		fmt.Fprintf(a.Stdout, "%s %s\n", term.Pad(word, len("added to")), file)
	}
	return nil
}

// finish checks and writes what was added, and says what to do next.
func finish(ctx context.Context, a *cli.App, u *author, next string) error {
	if err := u.verify(ctx); err != nil {
		return err
	}
	if err := u.write(a); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "\nNow:\n  %s\n", next)
	return nil
}

// ruleIDs lists the ids of all rules of the policy.
func (u *author) ruleIDs() []string {
	var ids []string
	for _, r := range u.effective.Rules() {
		ids = append(ids, r.ID)
	}
	slices.Sort(ids)
	return ids
}

// knownRule refuses an id that no rule has.
func (u *author) knownRule(id string) error {
	ids := u.ruleIDs()
	if slices.Contains(ids, id) {
		return nil
	}
	if near := engine.Nearest(id, ids); near != "" {
		return fmt.Errorf("--rule: there is no rule %q; did you mean %q?", id, near)
	}
	return fmt.Errorf("--rule: there is no rule %q; `reviewer policy rules` lists them", id)
}
