package lifecycle

import (
	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// InstantiateCommand makes `signpost instantiate`.
func InstantiateCommand(p terminal.Program) *cobra.Command {
	return lifecycleCommand(p, intent.Instantiate, &cobra.Command{
		Use:   "instantiate GROUP",
		Short: "Deploy a deployment intent group or a cluster DNS",
		Long: `Copies the intents of a deployment intent group, or the DNS CR intents of a logical cloud,
into a release and deploys it.`,
		Example: "  signpost instantiate shop/store/v1/prod --wait\n  signpost instantiate shop/eu --wait",
	})
}

// UpdateCommand makes `signpost update`.
func UpdateCommand(p terminal.Program) *cobra.Command {
	return lifecycleCommand(p, intent.Update, &cobra.Command{
		Use:   "update GROUP",
		Short: "Deploy the changes of a deployment intent group, a cluster DNS or a provider",
		Long: `Copies the present intents of a deployment intent group, or the DNS CR intents of a logical cloud,
into a new release. It then deploys the difference. For a provider, given by its path
projects/…/dns-update-records/…, it deploys the changed parameters, credentials or version. A provider
has no state to wait for, so it has no --wait.`,
		Example: "  signpost update shop/store/v1/prod --confirm TOKEN --wait\n  signpost update projects/shop/dns-update-records/lab",
	})
}

// DeployCommand makes `signpost deploy`.
func DeployCommand(p terminal.Program) *cobra.Command {
	return lifecycleCommand(p, intent.Deploy, &cobra.Command{
		Use:   "deploy GROUP",
		Short: "Deploy what the documents say: instantiate or update, as needed",
		Long: `Deploys a deployment intent group, a cluster DNS or a provider as its documents are now.
The command instantiates or updates, as needed. If the current release says the same already, nothing
is done: a pipeline can repeat the command.`,
		Example: "  signpost deploy shop/store/v1/prod --wait=verified\n  signpost deploy shop/store/v1/prod --dry-run\n  signpost deploy projects/shop/dns-update-records/lab",
	})
}

// RollbackCommand makes `signpost rollback`.
func RollbackCommand(p terminal.Program) *cobra.Command {
	return lifecycleCommand(p, intent.Rollback, &cobra.Command{
		Use:   "rollback GROUP | HOST",
		Short: "Go back to an earlier release of a group or a name",
		Long: `For a group: deploys the intents of an earlier release again, as a new release. --to gives its number;
the default is the release before the current one. The documents stay as they are, and the next update
deploys them again. Providers stay as they are.

For a host name with a document of its own: publishes the document of an earlier release again. Without
--to, it is the document before the latest change, also after unpublish. "signpost history HOST" lists the releases.`,
		Example: "  signpost rollback www.shop.example --project shop --dry-run\n  signpost rollback www.shop.example --project shop --to 2 --wait=verified\n" +
			"  signpost rollback shop/store/v1/prod --to 3 --wait",
	})
}

// TerminateCommand makes `signpost terminate`.
func TerminateCommand(p terminal.Program) *cobra.Command {
	return lifecycleCommand(p, intent.Terminate, &cobra.Command{
		Use:   "terminate GROUP",
		Short: "Remove everything that was deployed",
		Long: `Removes what a deployment intent group deployed: the names first, then the rest. An external-dns
that other groups use stays. For a logical cloud, it removes the cluster DNS.

A group that EMCO's orchestrator deployed is terminated there. If EMCO is gone, --force removes
its names.`,
		Example: "  signpost terminate shop/store/v1/prod --wait",
	})
}
