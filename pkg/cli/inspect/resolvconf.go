package inspect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/pkg/admission/poddns"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/dns/resolvconf"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
)

const resolvconfHelp = `Shows the /etc/resolv.conf that a pod DNS intent gives to a pod, as kubelet would write it.
With --name, it also lists the queries that glibc sends for that name if nothing is found. The list has those
with the intent, and those with dnsPolicy ClusterFirst alone.

No server is asked, and the app's manifests are not known: give --host-network if its pods are
on the node's network. Pods with autopath ask the address of --local-ip. If the autopath of the logical cloud has
mode static without nodeLocalDNS, set --local-ip to the address of the Service dns-default. --cluster-dns is
for the policies ClusterFirst and ClusterFirstWithHostNet.`

// ResolvconfCommand makes `signpost resolvconf`.
func ResolvconfCommand(p terminal.Program) *cobra.Command {
	var output terminal.Format
	var asked podQuestion
	cmd := &cobra.Command{
		Use:   "resolvconf -f FILE",
		Short: "Show the resolv.conf that a pod DNS intent gives to a pod",
		Long:  resolvconfHelp,
		Example: "  signpost resolvconf -f intent.yaml --cluster-dns 10.96.0.10\n" +
			"  signpost resolvconf -f intent.yaml --host /etc/resolv.conf --namespace shop --name service123",
		Args: terminal.Exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("name") && asked.name == "" {
				return terminal.Usagef("--name is empty: give a name to look up, or remove the flag")
			}
			preview, err := asked.answer(p.In)
			if err != nil {
				return err
			}
			return output.PrintValue(p.Out, preview, func(w io.Writer, _ bool) error { return printPreview(w, p.Err, preview) })
		},
	}
	asked.flags(cmd.Flags())
	output.Flag(cmd.Flags())
	return cmd
}

// belowSpec says what a pod DNS intent is like.
const belowSpec = "dnsPolicy and dnsConfig go below spec:, beside app, as in\n  metadata: {name: web}\n  spec: {app: web, dnsPolicy: ClusterFirst, dnsConfig: {options: [{name: ndots, value: 2}]}}"

// podQuestion is what the command line asks.
type podQuestion struct {
	files                                               []string // one
	host                                                string
	namespace, clusterDomain, clusterDNS, localIP, name string
	hostNetwork                                         bool
}

func (q *podQuestion) flags(flags *pflag.FlagSet) {
	flags.StringArrayVarP(&q.files, "filename", "f", nil, "the `FILE` of a pod DNS intent, or - for standard input")
	flags.StringVar(&q.host, "host", "", "the `FILE` that is the node's /etc/resolv.conf (default an empty one)")
	flags.StringVar(&q.namespace, "namespace", "default", "the pod's `NAMESPACE`")
	flags.StringVar(&q.clusterDomain, "cluster-domain", intent.DefaultClusterDomain, "the cluster's `DOMAIN`")
	flags.StringVar(&q.clusterDNS, "cluster-dns", "", "the `IP` address of the cluster's DNS, for the policies ClusterFirst and ClusterFirstWithHostNet")
	flags.StringVar(&q.localIP, "local-ip", "", "the `IP` address that pods with autopath ask: the cache on each node, or in mode static without it the Service dns-default (default 169.254.20.10)")
	flags.BoolVar(&q.hostNetwork, "host-network", false, "the pod is on its node's network")
	flags.StringVar(&q.name, "name", "", "a `NAME` to look up")
}

// answer reads the files and answers the question, as a server would.
func (q *podQuestion) answer(in io.Reader) (resolvconf.Preview, error) {
	body, err := q.body(in)
	if err != nil {
		return resolvconf.Preview{}, err
	}
	if body, err = operation.Shape("previewPodDNSIntent", body); err != nil {
		return resolvconf.Preview{}, q.wrong(err)
	}
	preview, err := poddns.ReadPodDNSPreview(body)
	if err != nil {
		return resolvconf.Preview{}, q.wrong(err)
	}
	preview.HostNetwork, preview.LocalIP = q.hostNetwork, q.localIP
	answer, err := preview.Answer()
	if preview.Spec.DNSPolicy.Canonical() == intent.DNSAutopath && q.clusterDNS != "" {
		answer.Warnings = append(answer.Warnings, "--cluster-dns has no effect: pods with autopath ask --local-ip; in mode static without nodeLocalDNS, give the address of the Service dns-default there")
	}
	return answer, q.wrong(err)
}

// body is the question as a server would be asked.
func (q *podQuestion) body(in io.Reader) ([]byte, error) {
	spec, err := q.spec(in)
	if err != nil {
		return nil, err
	}
	body := map[string]any{"spec": spec, "namespace": q.namespace, "clusterDomain": q.clusterDomain, "clusterDNS": q.clusterDNS}
	if q.name != "" {
		body["name"] = q.name
	}
	if q.host != "" {
		host, err := os.ReadFile(q.host)
		if err != nil {
			return nil, terminal.Usagef("--host: %w", err)
		}
		body["hostResolvConf"] = string(host)
	}
	return json.Marshal(body)
}

// spec is the intent in the file, which is one document.
func (q *podQuestion) spec(in io.Reader) (json.RawMessage, error) {
	switch {
	case len(q.files) == 0 || q.files[0] == "":
		return nil, terminal.Usagef("-f is missing: give the file of a pod DNS intent, or - for standard input")
	case len(q.files) > 1:
		return nil, terminal.Usagef("-f is given %d times: give a single file with one pod DNS intent", len(q.files))
	}
	content, err := document.ReadFile(in, q.files[0])
	if err != nil {
		return nil, terminal.Usagef("-f: %w", err)
	}
	name := q.shown()
	texts, err := document.SplitYAML(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(texts) != 1 {
		return nil, fmt.Errorf("%s has %s; give a file with a single pod DNS intent", name, terminal.Count(len(texts), "document"))
	}
	raw, err := safeyaml.ToJSON(texts[0])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var fields map[string]json.RawMessage
	err = json.Unmarshal(raw, &fields)
	switch _, ofKind := fields["kind"]; {
	case ofKind:
		return nil, fmt.Errorf("%s is a Kubernetes object, not a pod DNS intent: %s", name, belowSpec)
	case err != nil || fields["spec"] == nil:
		return nil, fmt.Errorf("%s is not a pod DNS intent, because it has no spec; %s", name, belowSpec)
	}
	found := &document.Faults{Where: name}
	document.RefuseUnknown(found, fields, "")
	if len(found.Fields) > 0 {
		return nil, found
	}
	return fields["spec"], nil
}

// shown is what the file is called.
func (q *podQuestion) shown() string {
	if q.files[0] == "-" {
		return "standard input"
	}
	return q.files[0]
}

// wrong says what is wrong where people wrote it: in the file, or behind a flag.
func (q *podQuestion) wrong(err error) error {
	var invalid *intent.Error
	if !errors.As(err, &invalid) {
		return err
	}
	flags := map[string]string{
		"/hostResolvConf": "--host", "/namespace": "--namespace", "/clusterDomain": "--cluster-domain",
		"/clusterDNS": "--cluster-dns", "/name": "--name", "/localIP": "--local-ip",
	}
	lines := []string{"there is no preview of " + q.shown()}
	for _, field := range invalid.Fields {
		where, isFlag := flags[field.Pointer]
		if !isFlag {
			where = field.Pointer
		}
		lines = append(lines, "  "+where+": "+field.Detail)
	}
	return errors.New(strings.Join(lines, "\n"))
}

// printPreview prints the resolv.conf and both lists of queries, and to people
// what they are warned of.
func printPreview(out, people io.Writer, preview resolvconf.Preview) error {
	for _, warning := range preview.Warnings {
		terminal.Printf(people, "warning: %s\n", terminal.Visible(warning))
	}
	terminal.Printf(out, "%s", preview.ResolvConf)
	if preview.Queries == nil {
		return nil
	}
	before, after := preview.Queries.Before, preview.Queries.After
	t := terminal.NewTable(fmt.Sprintf("BEFORE: %d QUERIES", len(before)), fmt.Sprintf("AFTER: %d QUERIES", len(after)))
	for i := range max(len(before), len(after)) {
		t.Add(cell(before, i), cell(after, i))
	}
	return terminal.WriteTables(out, t)
}

// cell is a text of a column, empty below its end.
func cell(column []string, row int) string {
	if row < len(column) {
		return column[row]
	}
	return ""
}
