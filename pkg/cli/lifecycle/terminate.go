package lifecycle

import (
	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TerminateCommand makes `signpost terminate`.
func TerminateCommand(p terminal.Program) *cobra.Command {
	cmd := lifecycleCommand(p, intent.Terminate)
	cmd.Use = "terminate GROUP"
	cmd.Short = "Remove everything that was deployed"
	cmd.Long = `Removes what a deployment intent group deployed: the names first, then the rest. An external-dns
that other groups use stays. For a logical cloud, it removes the cluster DNS.

A group that EMCO's orchestrator deployed is terminated there. If EMCO is gone, --force removes
its names.`
	cmd.Example = "  signpost terminate shop/store/v1/prod --wait"
	return cmd
}
