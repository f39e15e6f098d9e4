package serve

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/signpost-dns/signpost/pkg/app"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/storage/backup"
)

const backupHelp = `Writes all data of Signpost into a new file: documents, releases, app contexts, and what Signpost
knows of the objects in clusters. Name the stores with the flags, variables
or configuration file of "signpost serve". With an external etcd, servers can keep running. Only
one program at a time can open the embedded etcd: stop the server first. Secret values stay encrypted
in the file. The file does not contain their key: keep the key in another place.`

const restoreHelp = `Restores a file of "signpost backup" into empty stores. Name the stores with the flags,
variables or configuration file of "signpost serve"; no server may run on them. The whole file is
checked before anything is written. An incomplete or damaged file is refused. So is a file
whose secret values were encrypted with another key than that of --secret-key-file. The file has no signature: keep it where nobody
else can write. After an interruption, servers refuse to start on the stores; repeat the command
with the same file.`

// BackupCommand makes `signpost backup`.
func BackupCommand(p terminal.Program) *cobra.Command {
	var config app.Config
	cmd := &cobra.Command{
		Use:     "backup FILE",
		Short:   "Write the whole state of Signpost into a file",
		Long:    backupHelp,
		Example: "  signpost backup --data-dir /var/lib/signpost /backup/signpost-1\n  signpost backup --config /etc/signpost.yaml /backup/signpost-1",
		Args:    terminal.Exactly(1, "one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := onStores(cmd, &config); err != nil {
				return err
			}
			summary, err := app.Backup(cmd.Context(), config, args[0])
			if err != nil {
				return err
			}
			terminal.Printf(p.Out, "%s: %s\n", args[0], counted(summary))
			if len(summary.Sealed) > 0 {
				terminal.Printf(p.Err, "Its secret values are sealed with key %s, which the file does not contain.\n", strings.Join(summary.Sealed, ", "))
			}
			return nil
		},
	}
	storeFlags(cmd.Flags(), &config)
	return cmd
}

// RestoreCommand makes `signpost restore`.
func RestoreCommand(p terminal.Program) *cobra.Command {
	var config app.Config
	cmd := &cobra.Command{
		Use:     "restore FILE",
		Short:   "Restore a backup into empty stores",
		Long:    restoreHelp,
		Example: "  signpost restore --data-dir /var/lib/signpost /backup/signpost-1",
		Args:    terminal.Exactly(1, "one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := onStores(cmd, &config); err != nil {
				return err
			}
			head, summary, err := app.Restore(cmd.Context(), config, args[0])
			if err != nil {
				return err
			}
			terminal.Printf(p.Out, "restored %s, as of %s\n", counted(summary), head.Time.Format(time.RFC3339))
			return nil
		},
	}
	storeFlags(cmd.Flags(), &config)
	return cmd
}

// counted says how much a backup holds.
func counted(s backup.Summary) string {
	text := terminal.Count(s.Keys, "key")
	if s.Records > 0 {
		text += ", " + terminal.Count(s.Records, "document") + " of MongoDB"
	}
	return text
}

// storeFlags adds the flags of signpost serve, so that its configuration serves
// here, too; help shows those about stores.
func storeFlags(flags *pflag.FlagSet, c *app.Config) {
	ServeFlags(flags, c)
	flags.VisitAll(func(flag *pflag.Flag) {
		switch flag.Name {
		case "data-dir", "mongo-uri", "secret-key-file", ConfigFlag:
		default:
			flag.Hidden = !strings.HasPrefix(flag.Name, "etcd-")
		}
	})
	flags.Lookup("log-level").DefValue = "warn"
	c.LogLevel = "warn"
}

// onStores fills the flags and checks them.
func onStores(cmd *cobra.Command, c *app.Config) error {
	if err := FillFlags(cmd.Flags()); err != nil {
		return terminal.AsUsageError(err)
	}
	c.Build = ThisBuild()
	return nil
}
