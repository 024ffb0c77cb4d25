package releasecmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/kept"
	"github.com/agent-reviewer/reviewer/bundles/releases"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/policycmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

func policyHistoryCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:   "history",
		Short: "List the policies that were effective on this machine, and restore one",
		Long: "A policy is stored by its digest, all layers together, when a call is decided under it and when a person\n" +
			"accepts the folder that they edited (`policy accept`, `enforcement`). A file that was saved and changed again\n" +
			"before either is not stored. Newest first. The setting audit.policies_mb limits the total size; beyond it,\n" +
			"the least recently used ones are removed and listed as lost.",
		Example: "  reviewer policy history\n  reviewer policy history show 3f5a9c11\n  reviewer policy history diff 3f5a9c11\n" +
			"  reviewer policy history restore 3f5a9c11 --reason 'the edit blocks the release job'",
		RunE: func(*cobra.Command, []string) error {
			home, err := a.StateHome()
			if err != nil {
				return err
			}
			list, err := pastPolicies(home)
			if err != nil {
				return err
			}
			return out.Write(a.Stdout, func(w io.Writer) error { return showHistory(a, w, &out, home, list) })
		},
	}
	out.Flags(cmd, "text", "json")
	run := cmd.RunE
	cli.Group(cmd, historyShowCommand(a), historyDiffCommand(a), historyRestoreCommand(a))
	cmd.RunE = run
	return cmd
}

// formerDigest is the argument that names a policy that was effective.
func formerDigest(name string) cli.Argument {
	return cli.Argument{Name: name, What: "8 or more digits of a digest that `reviewer policy history` lists"}
}

func historyShowCommand(a *cli.App) *cobra.Command {
	cmd := policycmd.ShowRefCommand(a)
	cmd.Use, cmd.Args = "show DIGEST", cli.Needs(formerDigest("DIGEST"))
	cmd.Short = "Show the layers, changed settings and rules of a policy that was effective"
	cmd.Long = "DIGEST is the first 8 or more digits of the policy's digest."
	cmd.Example = "  reviewer policy history show 3f5a9c11"
	return cmd
}

func historyDiffCommand(a *cli.App) *cobra.Command {
	cmd := policycmd.DiffCommand(a)
	run := cmd.RunE
	cmd.Use, cmd.Args = "diff BEFORE [AFTER]", cli.AtMost(2, formerDigest("BEFORE"))
	cmd.Short = "Compare two policies that were effective (default AFTER: the active one)"
	cmd.Long = "BEFORE and AFTER are each the first 8 or more digits of a digest, or active."
	cmd.Example = "  reviewer policy history diff 3f5a9c11\n  reviewer policy history diff 3f5a9c11 77aa01be -f json"
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			args = append(args, active.RefActive)
		}
		return run(cmd, args)
	}
	return cmd
}

// earlierPolicy is a policy that was effective here.
type earlierPolicy struct {
	kept.Policy
	FirstUsed string `json:"first_used"`          // RFC 3339
	LastUsed  string `json:"last_used,omitempty"` // RFC 3339, to the hour
	Active    bool   `json:"active"`              // in the working directory
}

func pastPolicies(home string) ([]earlierPolicy, error) {
	kept, err := active.KeptIn(home).History()
	if err != nil {
		return nil, err
	}
	now := ""
	if e, err := cli.MachineAt(home).EffectiveHere(); err == nil { // policy status reports its problems
		now = e.Digest
	}
	list := make([]earlierPolicy, 0, len(kept))
	for _, k := range kept {
		list = append(list, earlierPolicy{k, term.Time(k.First), term.Time(k.Last), k.Digest == now})
	}
	return list, nil
}

func showHistory(a *cli.App, w io.Writer, out *term.Output, home string, list []earlierPolicy) error {
	if out.Format == "json" {
		return term.WriteList(w, "policies", list)
	}
	if len(list) == 0 {
		fmt.Fprintf(w, "no policy has been used in %s yet\n", home)
		return nil
	}
	p := a.Paint(out)
	lost := 0
	fmt.Fprintf(w, "  %s %s %s %s\n", term.Pad("DIGEST", 12), term.Pad("FIRST USED", 19), term.Pad("LAST USED", 19), "LAYERS")
	for _, k := range list {
		mark, last := " ", term.Clock(k.Last)
		if k.Active {
			mark = "*"
		}
		if k.Lost {
			lost++
			last = term.Pad("lost", 19)
		}
		line := fmt.Sprintf("%s %.12s %s %s %s", mark, k.Digest, term.Clock(k.First), last, layersText(k.Layers))
		if k.Lost {
			line = p.Faint(line)
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	fmt.Fprintln(w, "\n* is active here")
	if lost > 0 {
		fmt.Fprintf(w, "%s lost: the files were removed to save space (audit.policies_mb), or by hand\n",
			term.Counted(lost, "policy is", "policies are"))
	}
	return nil
}

// layersText names the layers above the base, and the base itself if it is not this
// program's built-in one.
func layersText(layers map[string]string) string {
	_, shipped, err := bundles.BuiltIn()
	var names []string
	for _, layer := range bundles.Layers() {
		digest, ok := layers[layer]
		switch {
		case !ok:
		case layer == bundles.Base && err == nil && digest == shipped:
			names = append(names, "built-in")
		default:
			names = append(names, fmt.Sprintf("%s %.8s", layer, strings.TrimPrefix(digest, "h1:")))
		}
	}
	return strings.Join(names, ", ")
}

// restoring is the flags of policy history restore.
type restoring struct {
	digest, reason string
	allowRollback  bool
}

// restored is the result of a restore.
type restored struct {
	Policy  string              `json:"policy"` // digest of the effective policy, without a project layer
	Already bool                `json:"already"`
	Bundles []*active.Activated `json:"bundles"`
	Folder  string              `json:"folder,omitempty"` // whose files were restored
	Aside   string              `json:"aside,omitempty"`  // copy of what could not be read
	Project bool                `json:"project"`          // the project layer differs, and was not changed
}

func historyRestoreCommand(a *cli.App) *cobra.Command {
	var in restoring
	var out term.Output
	cmd := &cobra.Command{
		Use:   "restore DIGEST",
		Short: "Restore a policy that was effective before; needs a person at a terminal",
		Long: "The layers of this machine are restored: bundles are activated again, with all checks of `policy\n" +
			"activate`; the former files of the user layer's folder are restored (cases and tests are kept). A\n" +
			"base policy that another version of reviewer shipped becomes a bundle. The project layer belongs to the\n" +
			"workspace and is not changed. The policy is compiled before anything changes.\n\n" +
			"With a trust file, a bundle with a lower sequence needs --allow-rollback. The ledger records the restore.",
		Example: "  reviewer policy history restore 3f5a9c11 --reason 'the edit blocks the release job'",
		Args:    cli.Needs(formerDigest("DIGEST")),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.digest = args[0]
			if strings.TrimSpace(in.reason) == "" {
				return cli.Usage("give the reason with --reason TEXT, for the log")
			}
			if err := out.Known(); err != nil {
				return err
			}
			doc, err := restore(cmd.Context(), a, &in)
			if err != nil {
				return err
			}
			return out.Write(a.Stdout, func(w io.Writer) error { return showRestored(w, &out, doc) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.reason, "reason", "", "reason to record in the log (required)")
	f.BoolVar(&in.allowRollback, "allow-rollback", false, "with a trust file: allow a bundle with a lower sequence than the last one seen")
	out.Flags(cmd, "text", "json")
	return cmd
}

func restore(ctx context.Context, a *cli.App, in *restoring) (*restored, error) {
	log, err := a.OpenStore()
	if err != nil {
		return nil, err
	}
	target, err := storedPolicy(log.Dir, in.digest)
	if err != nil {
		return nil, err
	}
	holds, err := cli.MachineAt(log.Dir).Layers(workingDirectory())
	if err != nil {
		return nil, err
	}
	plan, err := holds.PlanRestore(target)
	if err != nil {
		return nil, fmt.Errorf("policy %.12s cannot be restored: %w", target.Digest, err)
	}
	doc := &restored{Bundles: []*active.Activated{}, Project: plan.Project, Already: plan.Nothing()}
	if plan.Nothing() {
		return doc, doc.effective(a, log.Dir)
	}
	if doc, err = carryOut(ctx, a, in, plan, doc); err != nil {
		return nil, err
	}
	return doc, doc.effective(a, log.Dir)
}

// carryOut restores layer by layer: bundles first, which are checked most strictly.
func carryOut(ctx context.Context, a *cli.App, in *restoring, plan *active.RestorePlan, doc *restored) (*restored, error) {
	log, err := a.OpenStore()
	if err != nil {
		return nil, err
	}
	if err := wiring.Check(ctx, plan.Target); err != nil {
		return nil, fmt.Errorf("not restored: %w; the previous policy stays active", err)
	}
	if in.reason, err = cli.WithoutSecrets(log, in.reason); err != nil {
		return nil, err
	}
	hand, err := signed.Begin(ctx, a, log, "restoring an earlier policy",
		fmt.Sprintf("policy %s is restored: %s", plan.Target.Digest, in.reason), a.Person)
	if err != nil {
		return nil, err
	}
	defer hand.Wipe()
	t, _, err := active.TrustInForce(log)
	if err != nil {
		return nil, invalidTrust(err)
	}
	for _, b := range plan.Bundles {
		made, err := restoreBundle(ctx, a, active.Releases(log.Dir), b, in, t, hand)
		if err != nil {
			return nil, err
		}
		doc.Bundles = append(doc.Bundles, made)
	}
	if plan.Folder != nil {
		text := fmt.Sprintf("policy %.20s, by %s: %s", plan.Target.Digest, hand.By, term.OneLine(in.reason, 400))
		if doc.Aside, err = plan.Folder.Restore(ctx, log, time.Now().UnixMilli(), text); err != nil {
			return nil, err
		}
		doc.Folder = plan.Folder.Dir
		if signer := hand.Signer(); signer != nil {
			return doc, acceptRestored(ctx, log, plan.Folder, hand.By, signer)
		}
	}
	return doc, nil
}

// acceptRestored accepts the person's own policy as it was restored, if nobody has changed it in the meantime.
func acceptRestored(ctx context.Context, log *audit.Store, back *active.FolderBack, by string, signer audit.Signer) error {
	own, err := cli.MachineAt(log.Dir).Acceptance()
	if err == nil && !maps.EqualFunc(own.Files, back.Files, bytes.Equal) {
		err = fmt.Errorf("the files in %s are not those that were restored: `reviewer policy accept` shows the difference", back.Dir)
	}
	if err != nil {
		return err
	}
	return own.Accept(ctx, log, by, signer)
}

// restoreBundle restores one bundle, under the rules of policy rollback.
func restoreBundle(
	ctx context.Context, a *cli.App, d *releases.Store, b active.BundleBack, in *restoring, t active.Trust, hand *signed.Hand,
) (*active.Activated, error) {
	if b.Files == nil && b.To.None() && !t.None() && !in.allowRollback {
		return nil, withoutBundle(t, b.Layer)
	}
	if b.Files != nil {
		return activateKept(ctx, a, b, in, hand)
	}
	request, err := active.RollbackRequest(d, b, in.reason, in.allowRollback || t.None())
	if err != nil {
		return nil, err
	}
	return activateBy(ctx, a, request, hand)
}

// activateKept packs an earlier state of a layer and activates the bundle: a base policy that
// another version of reviewer shipped has no bundle.
func activateKept(ctx context.Context, a *cli.App, b active.BundleBack, in *restoring, hand *signed.Hand) (*active.Activated, error) {
	m := b.Files.Manifest.Metadata
	packed, err := bundles.Pack(b.Files, bundles.Release{Revision: b.Files.Manifest.Revision})
	if err != nil {
		return nil, fmt.Errorf("pack the former %s layer: %w", b.Layer, err)
	}
	made, err := activateBy(ctx, a, active.Request{File: strings.TrimSpace(m.Name + " " + m.Version), Archive: packed.Bytes, Layer: b.Layer,
		AllowRollback: in.allowRollback, Reason: in.reason}, hand)
	if err != nil {
		return nil, fmt.Errorf("the %s layer was the policy that another version of reviewer ships: %w", b.Layer, err)
	}
	return made, nil
}

// effective records what is effective now.
func (d *restored) effective(a *cli.App, home string) error {
	e, err := cli.MachineAt(home).Effective("")
	if err == nil {
		d.Policy = e.Digest
		a.NoteOwn(e.Notice)
	}
	return err
}

// storedPolicy is a policy of the history.
func storedPolicy(home, beginning string) (*bundles.Effective, error) {
	const least = 8
	if len(beginning) < least || strings.Trim(beginning, "0123456789abcdef") != "" {
		return nil, fmt.Errorf("%s is not a digest; give 8 or more of its digits: `reviewer policy history` lists them", beginning)
	}
	return active.StoredPolicy(home, beginning)
}

func workingDirectory() string {
	dir, err := os.Getwd()
	if err != nil {
		return "" // then the project layer is ignored
	}
	return dir
}

func showRestored(w io.Writer, out *term.Output, d *restored) error {
	if out.Format == "json" {
		return term.WriteDocument(w, d)
	}
	if d.Already {
		fmt.Fprintf(w, "The layers of this machine already match that policy: %s\n", d.Policy)
	}
	for _, b := range d.Bundles {
		fmt.Fprintf(w, "%s layer: %s, generation %d\n", b.Layer, active.ReleaseText(b.Release), b.Generation)
	}
	if d.Folder != "" {
		fmt.Fprintf(w, "user layer: the former files of %s are restored\n", d.Folder)
	}
	if d.Aside != "" {
		fmt.Fprintf(w, "The existing files could not be read and were moved to %s\n", d.Aside)
	}
	if d.Project {
		fmt.Fprintln(w, "That policy had a different project layer. It belongs to the workspace and was not changed.")
	}
	if !d.Already {
		fmt.Fprintf(w, "Effective for every call from now on: policy %s\n", d.Policy)
	}
	return nil
}
