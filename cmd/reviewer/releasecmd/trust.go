package releasecmd

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

func policyTrustCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Manage the trust file: whose signatures on policy bundles are accepted",
		Long: "The trust file, " + trust.FileName + ", names keys, their roles, how many keys of a role must sign,\n" +
			"and the channels of policies. If it exists, only bundles that it covers can be activated. It\n" +
			"is itself signed by its root keys, and can be replaced only by a newer version that\n" +
			"enough root keys of both versions have signed. For anything but keys, edit the\n" +
			"text file, raise its version, have it signed, and rotate.",
		Example: "  reviewer policy trust add alice.pub --role root --role release --channel stable=acme/agents --init -o trust-1.yaml\n" +
			"  reviewer policy trust sign trust-1.yaml --signing-key alice\n" +
			"  reviewer policy trust rotate trust-1.yaml --init",
	}
	return cli.Group(cmd, trustShowCommand(a), trustAddCommand(a), trustRemoveCommand(a), trustSignCommand(a), trustRotateCommand(a),
		trustAcceptCommand(a), trustRestoreCommand(a))
}

func trustShowCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:     "show",
		Short:   "Show the active trust file: keys, roles, channels, expiry",
		Example: "  reviewer policy trust show",
		Args:    cli.AtMost(0),
		RunE: func(*cobra.Command, []string) error {
			if err := out.Known(); err != nil {
				return err
			}
			log, err := a.OpenStore()
			if err != nil {
				return err
			}
			t, _, err := active.TrustInForce(log)
			if err != nil {
				return invalidTrust(err)
			}
			now := time.Now().UnixMilli()
			if err := out.Write(a.Stdout, func(w io.Writer) error { return showTrust(w, &out, t, now) }); err != nil || t.None() {
				return err
			}
			if err := t.Current(now); err != nil {
				return invalidTrust(err)
			}
			return nil
		},
	}
	out.Flags(cmd, "text", "json")
	return cmd
}

// invalidTrust returns a finding for a trust file that is not valid.
func invalidTrust(err error) error {
	return &cli.ExitError{Code: cli.ExitFindings, Err: fmt.Errorf("[%s] %w", trust.CodeOf(err), err)}
}

// trustDocument is what trust show -f json writes.
type trustDocument struct {
	State        trust.State     `json:"state"`
	File         string          `json:"file,omitempty"` // empty: there is none
	SHA256       string          `json:"sha256,omitempty"`
	Organisation bool            `json:"organisation"`
	Trust        *trust.Document `json:"trust,omitempty"`
	IDs          []trust.Signer  `json:"ids"` // of the keys
}

func showTrust(w io.Writer, out *term.Output, t active.Trust, now int64) error {
	doc := trustDocument{State: trust.StateNone, IDs: []trust.Signer{}, Organisation: t.Organisation}
	if !t.None() {
		if doc.State = trust.StateActive; t.Current(now) != nil {
			doc.State = trust.StateExpired
		}
		doc.File, doc.SHA256, doc.Trust = t.Path, t.SHA256, &t.Document
		for _, name := range slices.Sorted(maps.Keys(t.Keys)) {
			doc.IDs = append(doc.IDs, trust.Signer{Key: name, ID: t.KeyID(name)})
		}
	}
	switch {
	case out.Format == "json":
		return term.WriteDocument(w, doc)
	case t.None():
		_, err := fmt.Fprintf(w, "%s\nTo create one: reviewer policy trust add KEY.pub --role root --role release --channel stable=NAME --init "+
			"-o trust-1.yaml\n", TrustStatus{State: trust.StateNone}.Text(term.Paint{}))
		return err
	}
	fmt.Fprintf(w, "%s  version %d, %s\n\n", term.OneLine(t.Path, 300), t.Version, untilText(t.Expires, now))
	showTrusted(w, t)
	return nil
}

func untilText(expires string, now int64) string {
	until, err := time.Parse(time.RFC3339, expires)
	if err != nil { // there is none: an existing one was read before
		return "never expires"
	}
	left := until.Sub(time.UnixMilli(now))
	if left <= 0 {
		return "expired at " + expires
	}
	return fmt.Sprintf("expires at %s, in %s", expires, term.Counted(int(left.Hours()/24), "day", "days"))
}

func showTrusted(w io.Writer, t active.Trust) {
	showKeys(w, t.Trust, 16)
	rows := [][]string{{"ROLE", "REQUIRED", "KEYS"}}
	for _, name := range slices.Sorted(maps.Keys(t.Roles)) {
		r := t.Roles[name]
		rows = append(rows, []string{name, fmt.Sprintf("%d of %d", r.Threshold, len(r.Keys)), strings.Join(r.Keys, ", ")})
	}
	writeRows(w, rows)
	rows = [][]string{{"CHANNEL", "POLICIES", "ROLE", "MAX AGE", "EXTRA ROLE"}}
	for _, name := range slices.Sorted(maps.Keys(t.Channels)) {
		c := t.Channels[name]
		further := ""
		if c.Impact != nil {
			further = c.Impact.Role + ", when " + c.Impact.When
		}
		rows = append(rows, []string{name, strings.Join(c.Names, ", "), c.Role, c.MaxAge, further})
	}
	writeRows(w, rows)
}

// showKeys prints the keys of a trust file, with so much of their ids.
func showKeys(w io.Writer, t *trust.Trust, digits int) {
	rows := [][]string{{"KEY", "TYPE", "ID", "ROLES", "COMMENT"}}
	columns := 4
	for _, k := range keysOf(t) {
		rows = append(rows, []string{k.Key, k.Type, k.ID[:min(digits, len(k.ID))], strings.Join(k.Roles, ", "), k.Comment})
		if k.Comment != "" {
			columns = 5
		}
	}
	for i := range rows {
		rows[i] = rows[i][:columns]
	}
	writeRows(w, rows)
}

// trustedKey is a key of a trust file.
type trustedKey struct {
	Key     string   `json:"key"` // its name in the file
	Type    string   `json:"type"`
	ID      string   `json:"id"` // SHA-256 of the key
	Roles   []string `json:"roles"`
	Comment string   `json:"comment,omitempty"` // of an OpenSSH key
}

func keysOf(t *trust.Trust) (list []trustedKey) {
	for _, name := range slices.Sorted(maps.Keys(t.Keys)) {
		k := trustedKey{name, t.Keys[name].Type, t.KeyID(name), rolesOf(t.Document, name), ""}
		if words := strings.SplitN(strings.TrimSpace(t.Keys[name].Public), " ", 3); len(words) == 3 && !strings.HasPrefix(words[0], "-----") {
			k.Comment = words[2]
		}
		list = append(list, k)
	}
	return list
}

func rolesOf(d trust.Document, key string) []string {
	var roles []string
	for _, name := range slices.Sorted(maps.Keys(d.Roles)) {
		if slices.Contains(d.Roles[name].Keys, key) {
			roles = append(roles, name)
		}
	}
	return roles
}

// writeRows writes a table, and an empty line after it.
func writeRows(w io.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += term.Pad(term.OneLine(cell, 300), widths[i]) + "  "
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	fmt.Fprintln(w)
}
