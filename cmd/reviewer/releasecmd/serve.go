package releasecmd

import (
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/ship"
	"github.com/spf13/cobra"
)

func policyServeCommand(a *cli.App) *cobra.Command {
	var address string
	var remote bool
	cmd := &cobra.Command{
		Use:   "serve FOLDER",
		Short: "Serve the policy bundles of a folder, as OPA's bundle service does",
		Long: "GET /bundles/NAME.tar.gz answers with the archive of this name, GET /bundles/NAME.tar.gz.dsse.json\n" +
			"with its signatures; an ETag says what changed, and clients may wait for a change (OPA's long\n" +
			"polling). Other files are not served, and nothing is listed. An archive and its signatures\n" +
			"change together: while they are replaced, the ones before are served.\n\n" +
			"There is no TLS and no login: it listens to this machine only, unless --allow-remote is given.\n" +
			"Whoever pulls checks the signatures. SIGINT or SIGTERM ends it.",
		Example: "  reviewer policy serve /srv/policy --listen 127.0.0.1:8181\n" +
			"  reviewer policy pull http://127.0.0.1:8181/bundles/agents.tar.gz --activate\n" +
			"  opa run -s --set services.r.url=http://127.0.0.1:8181 \\\n" +
			"      --set bundles.agents.service=r --set bundles.agents.resource=bundles/agents.tar.gz",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			s, err := ship.NewServer(args[0], log.New(a.Stderr, "reviewer: ", 0))
			if err != nil {
				return err
			}
			defer s.Close()
			l, err := ship.Listen(ctx, address, remote)
			if err != nil {
				return fmt.Errorf("--listen: %w", err)
			}
			if _, err := fmt.Fprintf(a.Stdout, "serving %s at http://%s%s\n", args[0], l.Addr(), ship.Path("NAME.tar.gz")); err != nil {
				return errors.Join(err, l.Close())
			}
			return s.Serve(ctx, l)
		},
	}
	cmd.Flags().StringVar(&address, "listen", "127.0.0.1:8181", "address and port; port 0 takes any that is free")
	cmd.Flags().BoolVar(&remote, "allow-remote", false, "let other machines reach it, too")
	return cmd
}
