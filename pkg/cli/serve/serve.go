// Package serve runs the service, and backs up and restores its stores.
package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/app"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/storage/seal"
)

const serveHelp = `Runs the service until SIGTERM or an interrupt ends it.

Each flag can also be given as an environment variable: --log-level is SIGNPOST_LOG_LEVEL. It can
be a key of the YAML file of --config, too (log-level: debug). A flag beats the environment, and
the environment beats the file.

Authentication is by a token file, an OpenID Connect issuer, or a CA of client certificates.
Without authentication, Signpost listens on loopback only, unless --insecure is set.`

// Command makes `signpost serve`. Service runs the service until the context ends.
func Command(p terminal.Program, service func(context.Context, app.Config) error) *cobra.Command {
	var config app.Config
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Run the service",
		Long:    serveHelp,
		Example: "  signpost serve --data-dir /var/lib/signpost\n  signpost serve --config /etc/signpost.yaml --log-level debug",
		Args:    terminal.Exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := FillFlags(cmd.Flags()); err != nil {
				return terminal.AsUsageError(err)
			}
			if err := takeSecretKey(&config); err != nil {
				return terminal.AsUsageError(err)
			}
			if err := checkConfig(config); err != nil {
				return terminal.AsUsageError(err)
			}
			config.Unknown = unknownVariables(os.Environ(), cmd.Flags())
			config.Build = ThisBuild()
			return ExplainListen(service(cmd.Context(), config))
		},
	}
	ServeFlags(cmd.Flags(), &config)
	return cmd
}

// takeSecretKey takes the key of secrets at rest from the environment, where it
// does not stay. There is no flag for it: everybody on the machine sees those.
func takeSecretKey(c *app.Config) error {
	const variable = "SIGNPOST_SECRET_KEY"
	text, given := os.LookupEnv(variable)
	if !given {
		return nil
	}
	key, err := seal.ParseKey(text)
	if err != nil {
		return fmt.Errorf("%s: %w; make a key with head -c 32 /dev/urandom | base64", variable, err)
	}
	c.SecretKey = key
	return os.Unsetenv(variable)
}

// ExplainListen says what would do when an address is taken.
func ExplainListen(err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w\n  Another program, perhaps another Signpost, listens there; choose other addresses with --listen and --grpc-listen", err)
	}
	return err
}
