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

const backupHelp = `Writes all that Signpost keeps into a new file: documents, releases, app contexts, and what
was put into clusters and seen there. It works on the stores, given by the flags of "signpost serve", in the same ways; a
configuration file of serve's will do. With an external etcd, servers go on meanwhile. The embedded one can be opened once:
stop the server first.

Secret values stay sealed in the file. The key is not in it: keep it elsewhere.`

const restoreHelp = `Makes empty stores what a file of "signpost backup" says. The stores are given by the flags of
"signpost serve", in the same ways; no server may run on them.

Nothing is written before the whole file was read and judged: one that is torn or damaged, or holds values sealed with
another key than --secret-key-file, is refused. Nothing tells who has written it: keep it where nobody else can. When it is interrupted, the stores serve nobody; repeat it with the
same file.`

// BackupCommand makes `signpost backup`.
func BackupCommand(p terminal.Program) *cobra.Command {
	var config app.Config
	cmd := &cobra.Command{
		Use:     "backup FILE",
		Short:   "Write all that Signpost keeps into a file",
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
				terminal.Printf(p.Err, "Its secret values are sealed with key %s, which is not in it.\n", strings.Join(summary.Sealed, ", "))
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
		Short:   "Make empty stores what a backup says",
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
