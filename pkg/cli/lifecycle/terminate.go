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
	cmd.Short = "Take back everything that was deployed"
	cmd.Long = `Takes back what a deployment intent group deployed: the names first, then the rest. An
external-dns that others use stays. Of a logical cloud it takes back the cluster DNS.

A group that EMCO's orchestrator deploys is terminated there. When EMCO is gone, --force takes its names away.`
	cmd.Example = "  signpost terminate shop/store/v1/prod --wait"
	return cmd
}
