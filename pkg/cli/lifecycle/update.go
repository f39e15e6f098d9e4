package lifecycle

import (
	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// UpdateCommand makes `signpost update`.
func UpdateCommand(p terminal.Program) *cobra.Command {
	cmd := lifecycleCommand(p, intent.Update)
	cmd.Use = "update GROUP"
	cmd.Short = "Deploy the changes of a deployment intent group, a cluster DNS or a provider"
	cmd.Long = `Copies the intents of a deployment intent group, or the DNS CR intents of a logical cloud, as they
are now into a new release, and deploys the difference. For a provider, given by its path
projects/…/dns-update-records/…, it deploys the changed parameters, credentials or version. A provider
has no state to wait for, so it has no --wait.`
	cmd.Example = "  signpost update shop/store/v1/prod --confirm TOKEN --wait\n  signpost update projects/shop/dns-update-records/lab"
	return cmd
}
