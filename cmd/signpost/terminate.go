package main

import (
	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/intent"
)

func (p program) terminateCommand() *cobra.Command {
	cmd := p.lifecycleCommand(intent.Terminate)
	cmd.Use = "terminate GROUP"
	cmd.Short = "Take back everything that was deployed"
	cmd.Long = `Takes back what a deployment intent group deployed: the names first, then the rest. An
external-dns that others use stays. Of a logical cloud it takes back the cluster DNS.

A group that EMCO's orchestrator deploys is terminated there. When EMCO is gone, --force takes its names away.`
	cmd.Example = "  signpost terminate shop/store/v1/prod --wait"
	return cmd
}
