// Package publish has the commands on names: host names that one document publishes
// each.
package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/lifecycle"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const publishHelp = `Publishes a host name, or changes it. The name leads to a Service in one or several
clusters, to fixed addresses, or to another host name. Repeating the command changes nothing.
For a published name, the command changes the fields of its flags and keeps the others; --replace
drops the others.

--wait=instantiated waits until the objects of the name are in the clusters. --wait=published, or --wait
alone, waits until the publisher has written the name to DNS. --wait=verified waits until the
authoritative servers of the provider answer it.`

// publication is one request to publish a name.
type publication struct {
	server   connect.Connection
	output   terminal.Format
	project  string
	host     string
	spec     intent.Name
	clusters []string
	selector map[string]string
	scope    string
	replace  bool
	takeover string
	confirm  string
	dryRun   bool
	wait     string
	timeout  time.Duration
}

// Command makes `signpost publish`.
func Command(p terminal.Program) *cobra.Command {
	r := &publication{}
	cmd := &cobra.Command{
		Use:   "publish HOST (--service NAMESPACE/NAME --clusters CLUSTERS | --address ADDRESSES | --cname NAME)",
		Short: "Publish a host name",
		Long:  publishHelp,
		Example: "  signpost publish www.shop.example --service web/frontend --clusters dc/one,dc/two --wait=verified\n" +
			"  signpost publish api.shop.example --service web/api --selector region=eu --provider lab --ttl 60\n" +
			"  signpost publish mail.shop.example --address 192.0.2.7 --dry-run",
		Args: func(cmd *cobra.Command, args []string) error { return oneHost(cmd, lifecycle.WaitArgument(cmd, args)) },
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.read(lifecycle.WaitArgument(cmd, args)[0]); err != nil {
				return err
			}
			return r.publish(cmd.Context(), p, cmd.Flags().Changed)
		},
	}
	const longest = 5 * time.Minute
	flags := cmd.Flags()
	connect.ProjectFlag(flags, &r.project, "the `PROJECT` of the name")
	flags.StringVar(&r.spec.Service, "service", "", "the Service whose addresses the name gets, as `NAMESPACE/NAME`")
	flags.StringSliceVar(&r.clusters, "clusters", nil, "the `CLUSTERS` in which the Service is, as provider/cluster, separated by commas")
	flags.StringToStringVar(&r.selector, "selector", nil, "in place of --clusters: `LABELS` that a cluster has to have, as in region=eu")
	flags.Lookup("selector").DefValue = "" // --help would show it
	flags.StringSliceVar(&r.spec.Addresses, "address", nil, "in place of --service: fixed IP `ADDRESSES`")
	flags.StringVar(&r.spec.CNAME, "cname", "", "in place of --service: a fixed host `NAME`")
	flags.StringVar(&r.spec.Provider, "provider", "", "the `PROVIDER` of the project (default: the one that serves the name)")
	flags.StringVar(&r.scope, "scope", "", "public (default): addresses of all clusters; cluster: those of each of --clusters, by a provider associated with it")
	flags.Var((*seconds)(&r.spec.TTL), "ttl", "for how long resolvers may keep answers: `SECONDS`, a time as 5m, or default, which is the DNS provider's")
	flags.StringSliceVar(&r.spec.RecordTypes, "type", nil, "the `TYPES` to publish, of A, AAAA, CNAME and SRV (default: all but SRV)")
	flags.BoolVar(&r.replace, "replace", false, "drop the fields of a published name for which there is no flag")
	flags.StringVar(&r.takeover, "takeover", "", "the deployment intent `GROUP` that publishes the host name now and gives it up, as app/version/group")
	flags.StringVar(&r.confirm, "confirm", "", "the `TOKEN` of the plan to carry out; refused when anything changed since")
	flags.BoolVar(&r.dryRun, "dry-run", false, "show the plan, and change nothing")
	flags.StringVar(&r.wait, "wait", "", "wait until the name is instantiated, `published` or verified; published without a value")
	flags.Lookup("wait").NoOptDefVal = "published"
	flags.DurationVar(&r.timeout, "timeout", longest, "how long to --wait")
	r.output.Flag(flags)
	r.server.ServerFlags(flags)
	cmd.ValidArgsFunction = ownNames(&r.server, &r.project)
	return cmd
}

// read checks what can be checked without the server.
func (r *publication) read(host string) error {
	canonical, err := hostname.CanonicalUnderscored(host)
	if err != nil {
		return terminal.Usagef("%q %w", host, err)
	}
	r.host, r.spec.Scope, r.project = canonical, intent.Scope(r.scope), connect.Project(r.project)
	if r.wait != "" && !slices.Contains([]string{"instantiated", "published", "verified"}, r.wait) {
		return terminal.Usagef("--wait: %q is nothing to wait for; give instantiated, published or verified", r.wait)
	}
	if given := r.targets(); len(given) > 1 {
		return terminal.Usagef("%s exclude each other: a name leads to one of them", strings.Join(given, " and "))
	}
	if len(r.clusters) > 0 && len(r.selector) > 0 {
		return terminal.Usagef("--clusters and --selector exclude each other: list the clusters, or give labels that they have")
	}
	if len(r.clusters)+len(r.selector) > 0 {
		r.spec.Clusters = &intent.ClusterChoice{Names: r.clusters, Selector: r.selector}
		for n, cluster := range r.clusters {
			if r.clusters[n] = intent.ClusterWord(cluster); !strings.Contains(r.clusters[n], "/") {
				return terminal.Usagef("--clusters: %q must be a cluster as provider/cluster; signpost get cluster-providers lists the providers, and signpost get cluster-providers/PROVIDER/clusters their clusters", cluster)
			}
		}
	}
	return nil
}

// targets are the flags that say what the name leads to.
func (r *publication) targets() []string {
	var given []string
	if r.spec.Service != "" {
		given = append(given, "--service")
	}
	if len(r.spec.Addresses) > 0 {
		given = append(given, "--address")
	}
	if r.spec.CNAME != "" {
		given = append(given, "--cname")
	}
	return given
}

// complete checks that the flags alone say what a new name leads to.
func (r *publication) complete() error {
	switch {
	case len(r.targets()) == 0:
		return terminal.Usagef("nothing says what %s leads to: give --service NAMESPACE/NAME with --clusters or --selector, or --address, or --cname", r.host)
	case r.spec.Service != "" && r.spec.Clusters == nil:
		return noClusters()
	}
	return nil
}

func noClusters() error {
	return terminal.Usagef("--service needs the clusters in which the Service is: give --clusters dc/one,dc/two, or --selector region=eu")
}

// oneHost refuses all arguments but one host name, and says how targets are given.
func oneHost(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		if _, err := netip.ParseAddr(args[1]); err == nil {
			return terminal.Usagef("takes one host name; give the address by a flag: --address %s", strings.Join(args[1:], ","))
		}
		if strings.Contains(args[1], "/") {
			return terminal.Usagef("takes one host name; give the Service by a flag: --service %s", args[1])
		}
	}
	return terminal.Exactly(1, "one host name")(nil, args)
}

// seconds is a flag for a time in whole seconds: a number of them, or a duration.
type seconds int64

var _ pflag.Value = (*seconds)(nil)

// String is the number of seconds, empty for none.
func (s *seconds) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Type is what --help calls the value.
func (s *seconds) Type() string { return "seconds" }

// Set takes a value of the flag.
func (s *seconds) Set(text string) error {
	if text == "default" {
		*s = 0
		return nil
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		var long time.Duration
		if long, err = time.ParseDuration(text); long%time.Second == 0 {
			number = int64(long / time.Second)
		}
	}
	if err != nil || number < 1 {
		return terminal.Usagef("this is not a time of one or more whole seconds; give 300, 5m or default")
	}
	*s = seconds(number)
	return nil
}

// namePath is the document of a name.
func namePath(project, host string) string {
	return "projects/" + project + "/names/" + url.PathEscape(host)
}

// publish sends the name; given tells which flags there are.
func (r *publication) publish(ctx context.Context, p terminal.Program, given func(flag string) bool) error {
	api, err := r.server.Dial()
	if err != nil {
		return err
	}
	path := namePath(r.project, r.host)
	body, asRead, err := r.wanted(ctx, api, path, given)
	if err != nil {
		return err
	}
	query := connect.Query{"takeover": r.takeover, "confirm": r.confirm, "dryRun": connect.If(r.dryRun)}
	response, err := api.Do(ctx, http.MethodPut, query.Of(path), bytes.NewReader(body), asRead)
	if err != nil {
		return r.server.Meant(ctx, connect.OtherProjects(ctx, api, r.project, err))
	}
	if r.dryRun {
		return lifecycle.PrintPlan(p, &r.output, response.Body, false)
	}
	answer := response.Body
	if r.wait != "" {
		if answer, err = lifecycle.AwaitName(ctx, p, api, path, r.wait, r.timeout); err != nil {
			return err
		}
	}
	return r.output.Print(p.Out, answer, func(w io.Writer, _ bool) error { return lifecycle.PrintName(w, response.Body, answer) })
}

// wanted is the document of the name with what the flags give, and the condition that the one it
// follows from is still the same. Fields that this version does not know stay as they are.
func (r *publication) wanted(ctx context.Context, api *client.Client, path string, given func(flag string) bool) ([]byte, http.Header, error) {
	fresh, err := json.Marshal(intent.Resource[intent.Name]{Metadata: intent.Metadata{Name: r.host}, Spec: r.spec})
	if err != nil {
		return nil, nil, err
	}
	if r.replace {
		return fresh, nil, r.complete()
	}
	stored, err := api.Do(ctx, http.MethodGet, path, nil, nil)
	if connect.IsMissing(err) {
		return fresh, http.Header{"If-None-Match": {"*"}}, r.complete()
	}
	if err != nil {
		return nil, nil, err
	}
	body, err := r.change(stored.Body, given)
	return body, http.Header{"If-Match": stored.Header["Etag"]}, err
}

// change gives the document of a name what the flags give, and keeps all its other fields.
func (r *publication) change(document []byte, given func(flag string) bool) ([]byte, error) {
	var now struct {
		Metadata json.RawMessage            `json:"metadata"`
		Spec     map[string]json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(document, &now); err != nil {
		return nil, err
	}
	var wanted map[string]json.RawMessage
	if body, err := json.Marshal(r.spec); err != nil {
		return nil, err
	} else if err := json.Unmarshal(body, &wanted); err != nil {
		return nil, err
	}
	for _, field := range r.changed(given) {
		if value, set := wanted[field]; set {
			now.Spec[field] = value
			continue
		}
		delete(now.Spec, field)
	}
	if r.spec.Service != "" && now.Spec["clusters"] == nil {
		return nil, noClusters()
	}
	return json.Marshal(now)
}

// changed are the fields of a name that the flags give, and those that lose their meaning by it.
func (r *publication) changed(given func(flag string) bool) []string {
	var fields []string
	if given("service") || given("address") || given("cname") {
		fields = append(fields, "service", "addresses", "cname")
		if !given("service") { // what is for Services alone
			fields = append(fields, "clusters", "routing", "scope")
		}
	}
	if given("clusters") || given("selector") {
		fields = append(fields, "clusters")
	}
	for flag, field := range map[string]string{"provider": "provider", "scope": "scope", "ttl": "ttl", "type": "recordTypes"} {
		if given(flag) {
			fields = append(fields, field)
		}
	}
	return fields
}
