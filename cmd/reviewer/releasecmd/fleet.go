package releasecmd

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/fleet"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

func policyFleetCommand(a *cli.App) *cobra.Command {
	var silent time.Duration
	var at string
	var out term.Output
	cmd := &cobra.Command{
		Use:   "fleet FOLDER",
		Short: "Show which machines have which release, since when, and which fail or are silent",
		Long: "FOLDER has the status reports that machines sent (releases.report.to) or that `reviewer policy pull --report-to`\n" +
			"wrote: files that end in .json or .jsonl, each with one report or several; the last of each machine counts.\n\n" +
			"A machine is silent if it has not reported for longer than --silent-after, and failing if its last report has a\n" +
			"problem, with the codes that `reviewer policy verify` uses, or unreachable, no_policy, no_release (its\n" +
			"organisation's layer was rolled back to no bundle), channel (its release is from another one), clock (its clock\n" +
			"is ahead) or problem (`reviewer policy status` there says which), or if another machine, with a newer trust file,\n" +
			"reports its release as revoked. It is held if a release was rolled back there,\n" +
			"and behind if another machine of the channel has a newer release.\n" +
			"Exit code 2 if a machine fails or is silent; 1 if a file is not a report.",
		Example: "  reviewer policy fleet /srv/reports\n  reviewer policy fleet /srv/reports --silent-after 6h -f json",
		Args:    cli.Needs(cli.Argument{Name: "FOLDER", What: "a folder with status reports"}),
		RunE: func(_ *cobra.Command, args []string) error {
			now := time.Now()
			if at != "" {
				var err error
				if now, err = time.Parse(time.RFC3339, at); err != nil {
					return cli.Usage("--at %s: expected a time such as 2026-11-29T08:00:00Z", at)
				}
			}
			if silent <= 0 {
				return cli.Usage("--silent-after %s: expected a time such as 48h", silent)
			}
			if info, err := os.Stat(args[0]); err != nil || !info.IsDir() {
				return fmt.Errorf("%s: no such folder; give the one in which reports are collected", args[0])
			}
			last, bad, err := fleet.Read(os.DirFS(args[0]))
			if err != nil {
				return err
			}
			s := fleet.Judge(last, bad, now, silent)
			if err := out.Result(a.Stdout, s, func(w io.Writer) { showFleet(a, w, &out, &s) }); err != nil {
				return err
			}
			switch {
			case s.Failed() > 0:
				return cli.Findings("%s silent or failing, of %d", term.Counted(s.Failed(), "machine is", "machines are"), len(s.Machines))
			case len(bad) > 0:
				return fmt.Errorf("%s: %s not a report; remove or fix it", args[0], term.Counted(len(bad), "place is", "places are"))
			case len(s.Machines) == 0:
				return fmt.Errorf("%s has no reports", args[0])
			}
			return nil
		},
	}
	f := cmd.Flags()
	cli.SpanVar(f, &silent, "silent-after", 48*time.Hour, "how long a machine may be silent")
	f.StringVar(&at, "at", "", "judge silence at this time, such as 2026-11-29T08:00:00Z (default now)")
	out.Flags(cmd, term.Text, "json")
	return cmd
}

func showFleet(a *cli.App, w io.Writer, out *term.Output, s *fleet.Summary) {
	p := a.Paint(out)
	for _, b := range s.Bad {
		fmt.Fprintf(w, "%s %s:%d: %s\n", p.Verdict("fail"), term.OneLine(b.File, 200), b.Line, term.OneLine(cli.Masked(b.Error), 300))
	}
	var rows [][]string
	for _, m := range s.Machines {
		name := machineName(&m)
		what, since := "no release", ""
		var list []string
		for _, r := range m.Releases {
			list = append(list, strings.TrimSpace(r.Name+" "+r.Revision)+term.After(" ", r.Channel))
			since = max(since, r.Since)
		}
		if len(list) > 0 {
			what = strings.Join(list, ", ")
		}
		rows = append(rows, []string{name, term.OneLine(what, 80), term.OneLine(since, 20), term.OneLine(m.Reported, 20), trustText(m.Trust),
			string(m.State) + term.After(": ", term.OneLine(strings.Join(m.Why, ", "), 100))})
	}
	head := []string{"MACHINE", "RELEASE", "SINCE", "REPORTED", "TRUST", "STATE"}
	widths := make([]int, len(head))
	for _, row := range append(rows, head) {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	if len(rows) == 0 {
		return
	}
	for _, row := range append([][]string{head}, rows...) {
		for i := range row[:len(row)-1] {
			row[i] = term.Pad(row[i], widths[i])
		}
		fmt.Fprintln(w, strings.Join(row, "  "))
	}
	showFindings(w, s)
	var counts []string
	for _, state := range (fleet.Summary{}).Vocabulary("state") {
		if n := s.Counts[state]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, state))
		}
	}
	fmt.Fprintf(w, "\n%s at %s: %s\n", term.Counted(len(s.Machines), "machine", "machines"), s.At, strings.Join(counts, ", "))
}

// trustText is the version of a machine's trust file, or why it has none.
func trustText(t fleet.Trust) string {
	if t.Version > 0 {
		return strconv.FormatInt(t.Version, 10)
	}
	return term.OneLine(t.State, 20)
}

func machineName(m *fleet.Machine) string {
	name := term.OneLine(m.ID[:min(len(m.ID), 8)], 8)
	if m.Host != "" {
		name = term.OneLine(m.Host, 40) + " (" + name + ")"
	}
	return name
}

// showFindings prints which release each code is about, and what is active there.
func showFindings(w io.Writer, s *fleet.Summary) {
	any, status := false, false
	for _, m := range s.Machines {
		for _, f := range m.Findings {
			if !any {
				fmt.Fprintln(w)
			}
			any, status = true, status || f.What != fleet.RevokedBundle
			fmt.Fprintf(w, "%s, %s layer: %s\n", machineName(&m), term.OneLine(f.Layer, 20), term.OneLine(findingText(&m, &f), 300))
		}
	}
	if status {
		fmt.Fprintln(w, "On such a machine, `reviewer policy status` describes what to do.")
	}
}

func findingText(m *fleet.Machine, f *fleet.Finding) string {
	which := cmp.Or(f.Release, "a release") + term.After(", channel ", f.Channel) + " (SHA-256 " + f.Archive + ")"
	switch {
	case f.What == fleet.HeldBundle:
		return which + " was rolled back and is held back"
	case f.What == fleet.RevokedBundle:
		return fmt.Sprintf("%s is still active: revoked by version %d of the trust file elsewhere; this machine has version %d: "+
			"accept the newer one there with `reviewer policy trust rotate FILE`", which, f.Trust, m.Trust.Version)
	case f.What == fleet.PulledBundle && f.Archive == "":
		return "the last pull failed: " + f.Code
	case f.What == fleet.PulledBundle:
		return "the last pull did not accept " + which + ": " + f.Code
	case f.Archive == "":
		return "no bundle is active: " + f.Code
	case slices.Contains(m.Why, fleet.NoPolicy):
		return which + " cannot be used, and every call is denied: " + f.Code
	}
	return which + " is still active: " + f.Code
}
