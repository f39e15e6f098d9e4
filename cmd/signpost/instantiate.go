package main

import (
	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/intent"
)

func (p program) instantiateCommand() *cobra.Command {
	cmd := p.lifecycleCommand(intent.Instantiate)
	cmd.Use = "instantiate GROUP"
	cmd.Short = "Deploy a deployment intent group or a cluster DNS"
	cmd.Long = `Freezes the intents of a deployment intent group, or the DNS CR intents of a logical cloud,
into a release and deploys it.`
	cmd.Example = "  signpost instantiate shop/store/v1/prod --wait\n  signpost instantiate shop/eu --wait"
	return cmd
}
