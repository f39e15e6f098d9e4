package lifecycle

import (
	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// RollbackCommand makes `signpost rollback`.
func RollbackCommand(p terminal.Program) *cobra.Command {
	cmd := lifecycleCommand(p, intent.Rollback)
	cmd.Use = "rollback GROUP"
	cmd.Short = "Deploy an earlier release again"
	cmd.Long = `Deploys the intents of an earlier release as a new release: the release of --to, or the one before
the current one. Documents stay as they are, and the next update deploys them again. Providers
stay as they are deployed.`
	cmd.Example = "  signpost plan shop/store/v1/prod --for rollback --to 3\n  signpost rollback shop/store/v1/prod --to 3 --wait"
	return cmd
}
