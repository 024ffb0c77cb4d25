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
		Short: "Serve the policy bundles of a folder over HTTP, like an OPA bundle service",
		Long: "GET /bundles/NAME.tar.gz returns the archive of that name, and GET /bundles/NAME.tar.gz.dsse.json\n" +
			"its signatures. Responses have an ETag, and clients can wait for a change (OPA's long\n" +
			"polling). Other files are not served, and there is no listing. An archive and its signatures\n" +
			"change together: while they are replaced, the previous ones are served.\n\n" +
			"There is no TLS and no login: it listens on localhost only, unless --allow-remote is given.\n" +
			"Clients that pull verify the signatures. SIGINT or SIGTERM stops it.",
		Example: "  reviewer policy serve /srv/policy --listen 127.0.0.1:8181\n" +
			"  reviewer policy pull http://127.0.0.1:8181/bundles/agents.tar.gz --activate\n" +
			"  opa run -s --set services.r.url=http://127.0.0.1:8181 \\\n" +
			"      --set bundles.agents.service=r --set bundles.agents.resource=bundles/agents.tar.gz",
		Args: cli.Needs(cli.Argument{Name: "FOLDER", What: "the folder that `reviewer policy push` filled"}),
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
	cmd.Flags().StringVar(&address, "listen", "127.0.0.1:8181", "address and port; port 0 picks a free one")
	cmd.Flags().BoolVar(&remote, "allow-remote", false, "listen on addresses that other machines can reach")
	return cmd
}
