package lifecycle

import (
	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// InstantiateCommand makes `signpost instantiate`.
func InstantiateCommand(p terminal.Program) *cobra.Command {
	cmd := lifecycleCommand(p, intent.Instantiate)
	cmd.Use = "instantiate GROUP"
	cmd.Short = "Deploy a deployment intent group or a cluster DNS"
	cmd.Long = `Freezes the intents of a deployment intent group, or the DNS CR intents of a logical cloud,
into a release and deploys it.`
	cmd.Example = "  signpost instantiate shop/store/v1/prod --wait\n  signpost instantiate shop/eu --wait"
	return cmd
}
