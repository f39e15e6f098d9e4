// Package imports makes documents of names that exist already: in zones, in files of
// OctoDNS, in clusters, and in the care of an external-dns. An import publishes nothing.
package imports

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/dns/zone"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
)

const importHelp = `Makes documents of host names that exist already, for plan -f and apply -f. An import publishes
nothing, and asks no Signpost server.

The documents go to standard output, or to --output. A report goes to standard error: it tells the
records that stay as they are, and why. --report writes the whole report to a file, as JSON.`

// Command makes `signpost import`.
func Command(p terminal.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Make documents of host names that exist already",
		Long:  importHelp,
		Args:  knownSource,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(zoneCommand(p), octoCommand(p), ownedCommand(p), kubernetesCommand(p))
	return cmd
}

// knownSource refuses a word that names no command of import.
func knownSource(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
	}
	return terminal.Usagef("unknown command %q of import; there are %s", args[0], strings.Join(names, ", "))
}

// task is what all imports have in common: for whom the documents are, and where they go.
type task struct {
	project  string
	provider string
	output   string
	report   string
}

func (t *task) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.project, "project", "default", "the `PROJECT` of the names")
	cmd.Flags().StringVar(&t.provider, "provider", "", "the `PROVIDER` of the project that is to serve the names (default: the only one that does)")
	cmd.Flags().StringVarP(&t.output, "output", "o", "", "the `FILE` for the documents (default: standard output)")
	cmd.Flags().StringVar(&t.report, "report", "", "a `FILE` for the whole report, as JSON")
}

// transferFlags are how a zone is got.
type transferFlags struct {
	origin  string
	tsig    string
	timeout time.Duration
}

func (f *transferFlags) flags(cmd *cobra.Command) {
	const longest = 5 * time.Minute
	cmd.Flags().StringVar(&f.tsig, "tsig-file", "", "for a transfer: a `FILE` with its key, as algorithm:name:secret")
	cmd.Flags().DurationVar(&f.timeout, "timeout", longest, "how long a transfer may take")
}

func zoneCommand(p terminal.Program) *cobra.Command {
	var t task
	var from transferFlags
	cmd := &cobra.Command{
		Use:   "zone FILE | axfr://SERVER/ZONE",
		Short: "Make documents of a zone file, or of a zone's transfer",
		Long: `Makes a name of each host name of a zone. The zone is a file in the form of RFC 1035, - for standard input,
or the transfer (AXFR) of a server. $INCLUDE is refused. Records without a TTL, in a file without $TTL, get 3600 seconds.

The records of the zone itself (SOA, its NS), delegations and DNSSEC are reported, and stay as they are.`,
		Example: "  signpost import zone shop.example.zone --project shop > names.yaml\n" +
			"  signpost import zone axfr://192.0.2.53/shop.example --tsig-file key --output names.yaml",
		Args: terminal.Exactly(1, "one zone file, or axfr://SERVER/ZONE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			z, err := from.read(cmd.Context(), p.In, args[0])
			if err != nil {
				return err
			}
			return t.deliver(p, FromZone(args[0], z))
		},
	}
	cmd.Flags().StringVar(&from.origin, "origin", "", "the `ZONE` of a file that names none by $ORIGIN")
	t.flags(cmd)
	from.flags(cmd)
	return cmd
}

func octoCommand(p terminal.Program) *cobra.Command {
	var t task
	var name string
	cmd := &cobra.Command{
		Use:     "octodns FILE",
		Short:   "Make documents of a zone file of OctoDNS",
		Long:    "Makes a name of each host name of a zone of OctoDNS. The name of the file, such as shop.example.yaml, is that of the zone, unless --zone gives another.",
		Example: "  signpost import octodns config/shop.example.yaml --project shop > names.yaml",
		Args:    terminal.Exactly(1, "one zone file of OctoDNS"),
		RunE: func(_ *cobra.Command, args []string) error {
			name = cmp.Or(name, strings.TrimSuffix(strings.TrimSuffix(filepath.Base(args[0]), ".yaml"), ".yml"))
			text, err := bounded(p.In, args[0])
			if err != nil {
				return err
			}
			z, findings, err := ReadOctoDNS(text, args[0], name)
			if err != nil {
				return err
			}
			result := FromZone(args[0], z)
			result.Findings = slices.Insert(result.Findings, 0, findings...)
			return t.deliver(p, result)
		},
	}
	cmd.Flags().StringVar(&name, "zone", "", "the `ZONE` of the file")
	t.flags(cmd)
	return cmd
}

func ownedCommand(p terminal.Program) *cobra.Command {
	var t task
	var from transferFlags
	var source, owner string
	var affixes externaldns.InDNS
	cmd := &cobra.Command{
		Use:   "external-dns --zone FILE | axfr://SERVER/ZONE",
		Short: "Make documents of the names that an external-dns publishes in a zone",
		Long: `Makes documents of the host names that an external-dns has marked as its own by TXT records. The report
lists the owner ids, with the number of names of each. With --owner it takes the names of one of them.

Names without a mark are left out. Marks are found with the txt-prefix or txt-suffix that the external-dns has.`,
		Example: "  signpost import external-dns --zone axfr://192.0.2.53/shop.example --owner default > names.yaml",
		Args:    terminal.Exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if source == "" {
				return terminal.Usagef("--zone is missing: give a zone file, or axfr://SERVER/ZONE")
			}
			z, err := from.read(cmd.Context(), p.In, source)
			if err != nil {
				return err
			}
			return t.deliver(p, FromMarks(source, z, affixes, owner))
		},
	}
	cmd.Flags().StringVar(&source, "zone", "", "the zone: a `FILE`, or axfr://SERVER/ZONE")
	cmd.Flags().StringVar(&affixes.Prefix, "txt-prefix", "", "the `PREFIX` that the external-dns gives to names of marks")
	cmd.Flags().StringVar(&affixes.Suffix, "txt-suffix", "", "the `SUFFIX` that the external-dns gives to names of marks")
	cmd.Flags().StringVar(&affixes.Wildcard, "txt-wildcard-replacement", "", "the `LABEL` by which the external-dns replaces the * of a wildcard in the names of its marks")
	cmd.Flags().StringVar(&owner, "owner", "", "the owner `ID` whose names are taken (default: all)")
	cmd.Flags().StringVar(&from.origin, "origin", "", "the `ZONE` of a file that names none by $ORIGIN")
	t.flags(cmd)
	from.flags(cmd)
	return cmd
}

// read gets a zone from a file, or from a server.
func (f *transferFlags) read(ctx context.Context, in io.Reader, source string) (zone.Zone, error) {
	rest, transfer := strings.CutPrefix(source, "axfr://")
	if !transfer {
		text, err := bounded(in, source)
		if err != nil {
			return zone.Zone{}, err
		}
		return zone.Parse(bytes.NewReader(text), f.origin, source)
	}
	server, name, both := strings.Cut(rest, "/")
	name = strings.Trim(name, "/.")
	if !both || server == "" || name == "" {
		return zone.Zone{}, terminal.Usagef("%q names no zone of a server; give axfr://SERVER/ZONE, as in axfr://192.0.2.53/shop.example", source)
	}
	if _, _, err := net.SplitHostPort(server); err != nil {
		server = net.JoinHostPort(strings.Trim(server, "[]"), "53")
	}
	key, err := f.key()
	if err != nil {
		return zone.Zone{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	from := zone.Server{Address: server, Dial: (&net.Dialer{}).DialContext, Key: key}
	return from.Transfer(ctx, name)
}

// key is that of --tsig-file; nil without it.
func (f *transferFlags) key() (*zone.Key, error) {
	if f.tsig == "" {
		return nil, nil
	}
	text, err := os.ReadFile(f.tsig)
	if err != nil {
		return nil, terminal.Usagef("--tsig-file: %w", err)
	}
	const parts = 3
	split := strings.SplitN(strings.TrimSpace(string(text)), ":", parts)
	if len(split) != parts {
		return nil, terminal.Usagef("--tsig-file: %s does not hold algorithm:name:secret, as in hmac-sha256:transfer:c2VjcmV0", f.tsig)
	}
	key := &zone.Key{Algorithm: split[0], Name: split[1], Secret: split[2]}
	if err := key.Check(); err != nil {
		return nil, terminal.Usagef("--tsig-file: %w", err)
	}
	return key, nil
}

// bounded reads a file, or standard input, that is not too long.
func bounded(in io.Reader, name string) ([]byte, error) {
	text, err := document.ReadAtMost(in, name, zone.MostBytes+1)
	if err == nil && len(text) > zone.MostBytes {
		err = fmt.Errorf("%s is longer than %d MiB; divide it, and import its parts", name, zone.MostMiB)
	}
	return text, err
}

// deliver writes the documents and the report.
func (t *task) deliver(p terminal.Program, result Result) error {
	if _, err := document.CleanPath("projects/" + t.project); err != nil || strings.Contains(t.project, "/") {
		return terminal.Usagef("--project: %q is not the name of a project", t.project)
	}
	if t.report != "" {
		text, err := json.MarshalIndent(result, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(t.report, append(text, '\n'), readable); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	if err := t.write(p.Out, result.Names); err != nil {
		return err
	}
	t.tell(p.Err, result)
	return nil
}

// readable is the mode of files that an import writes.
const readable = 0o644

// write writes the documents to the file of --output, else to out.
func (t *task) write(out io.Writer, names []Name) (err error) {
	if t.output != "" && t.output != "-" {
		file, err := os.OpenFile(t.output, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, readable)
		if err != nil {
			return fmt.Errorf("--output: %w", err)
		}
		if err := t.documents(file, names); err != nil {
			_ = file.Close()
			return err
		}
		return file.Close()
	}
	return t.documents(out, names)
}

// documents writes a document for each name.
func (t *task) documents(out io.Writer, names []Name) error {
	buffered := bufio.NewWriter(out)
	for _, name := range names {
		name.Spec.Provider = t.provider
		text, err := safeyaml.Marshal(map[string]any{
			"resource": "projects/" + t.project + "/" + intent.NamesCollection,
			"metadata": map[string]string{"name": name.Host},
			"spec":     name.Spec,
		})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(buffered, "---\n%s", text); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// mostTold is how many findings are told on a terminal.
const mostTold = 50

// tell tells people what was found.
func (t *task) tell(w io.Writer, result Result) {
	table := terminal.NewTable("OUTCOME", "NAME", "TYPE", "REASON")
	for _, f := range result.Findings[:min(len(result.Findings), mostTold)] {
		reason := f.Reason
		if f.Where != "" {
			reason = f.Where + ": " + reason
		}
		table.Add(string(f.Outcome), f.Name, f.Type, reason)
	}
	_ = terminal.WriteTables(w, table) // as a report, to a terminal or a pipe
	if more := len(result.Findings) - mostTold; more > 0 {
		terminal.Printf(w, "… and %s; --report FILE writes all of them\n", terminal.Count(more, "more finding"))
	}
	terminal.Printf(w, "\n%s from %s. Nothing is published yet: see signpost plan -f.\n", terminal.Count(result.Taken, "name"), terminal.Plain(result.Source))
	for _, owner := range result.Owners {
		terminal.Printf(w, "An external-dns with owner id %q has %s here. Stop it before you apply the documents: scale its Deployment to 0; its records stay. Then adopt its names: signpost update PROVIDER --adopt %[1]s.\n",
			terminal.Plain(owner.ID), terminal.Count(owner.Marks, "mark"))
	}
}
