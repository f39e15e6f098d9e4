// Package onboard has the command that connects a cluster.
package onboard

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/lifecycle"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/account"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/rights"
)

const help = `Connects a cluster that a context of your kubeconfig reaches. It makes an account for Signpost
there with the rights of the uses and no more, and gets a token that expires. Then it registers the
cluster with the token, and runs the preflight. Your own credentials stay with you.

Run it again to restore the account or the token. The cluster's labels, projects and other settings
stay. The rights of a use that is no longer given stay, too, until you delete its ClusterRoles.`

// connection is one request to connect a cluster.
type connection struct {
	server     connect.Connection
	kubeconfig string
	context    string
	as         string
	uses       []string
	apiServer  string
	printOnly  bool
}

// Command makes `signpost connect`.
func Command(p terminal.Program) *cobra.Command {
	c := &connection{}
	cmd := &cobra.Command{
		Use:   "connect KUBECONTEXT --as PROVIDER/CLUSTER --for USES",
		Short: "Connect a cluster with no more rights than its uses need",
		Long:  help,
		Example: "  signpost connect prod-one --as dc/one --for addresses\n" +
			"  signpost connect prod-hub --as dc/hub --for home,addresses --print",
		Args: terminal.Exactly(1, "one context of the kubeconfig"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.context = args[0]
			return c.run(cmd.Context(), p)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&c.as, "as", "", "the `CLUSTER` to register, as provider/cluster; a missing cluster provider is created")
	flags.StringSliceVar(&c.uses, "for", nil, "the `USES` of the cluster, of addresses, home, apps and dns, separated by commas")
	flags.StringVar(&c.kubeconfig, "kubeconfig", "", "the kubeconfig `FILE` (default: as kubectl finds it)")
	flags.StringVar(&c.apiServer, "api-server", "", "the `URL` by which Signpost reaches the API server (default: the one of the context)")
	flags.BoolVar(&c.printOnly, "print", false, "print the manifest, and change nothing")
	c.server.Flags(flags)
	return cmd
}

// read checks the flags.
func (c *connection) read() (path intent.Path, uses []intent.ClusterUse, err error) {
	if c.as == "" {
		return "", nil, terminal.Usagef("--as is missing: give the cluster to register, as provider/cluster")
	}
	if path, err = document.ClusterPath(c.as); err != nil {
		return "", nil, fmt.Errorf("--as: %w", err)
	}
	for _, word := range c.uses {
		use := intent.ClusterUse(word)
		switch {
		case !slices.Contains(intent.ClusterUses(), use):
			return "", nil, terminal.Usagef("--for: %q is not a use of a cluster; give addresses, home, apps or dns", word)
		case !slices.Contains(uses, use):
			uses = append(uses, use)
		}
	}
	if len(uses) == 0 {
		return "", nil, terminal.Usagef("--for is missing: say what the cluster is for, of addresses, home, apps and dns")
	}
	return path, uses, nil
}

func (c *connection) run(ctx context.Context, p terminal.Program) error {
	path, uses, err := c.read()
	if err != nil {
		return err
	}
	manifest, err := rights.Manifest(uses...)
	if err != nil {
		return err
	}
	if c.printOnly {
		_, err := p.Out.Write(manifest)
		return err
	}
	kubeconfig, err := c.grant(ctx, p, manifest)
	if err != nil {
		return err
	}
	api, err := c.server.Dial()
	if err != nil {
		return err
	}
	if err := register(ctx, p, api, path, uses, kubeconfig); err != nil {
		return err
	}
	return check(ctx, p, api, path)
}

// grant makes the account with its rights, and returns a kubeconfig with a token of it.
func (c *connection) grant(ctx context.Context, p terminal.Program, manifest []byte) ([]byte, error) {
	cluster, err := account.Open(c.kubeconfig, c.context)
	if err != nil {
		return nil, terminal.AsUsageError(err)
	}
	applied, err := cluster.Apply(ctx, manifest)
	for _, object := range applied {
		terminal.Printf(p.Out, "applied %s\n", object)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cluster.Server(), err)
	}
	token, err := cluster.Token(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cluster.Server(), err)
	}
	terminal.Printf(p.Out, "got a token of %s that ends %s\n", rights.User, terminal.Moment(token.Expires))
	return cluster.Kubeconfig(c.apiServer, token)
}

// check asks whether Signpost can manage the cluster. An API server may take a moment until
// it knows rights that have just been granted.
func check(ctx context.Context, p terminal.Program, api *client.Client, path intent.Path) error {
	const attempts = 5
	for attempt := 1; ; attempt++ {
		var report client.Preflight
		if _, err := connect.Ask(ctx, api, http.MethodGet, string(path)+"/preflight", nil, &report); err != nil {
			return err
		}
		failed := lifecycle.FailedChecks(report)
		if failed == nil || attempt == attempts || !report.Reachable {
			if err := lifecycle.PrintPreflight(p.Out, report, false); err != nil {
				return err
			}
			return failed
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(p.Poll):
		}
	}
}
