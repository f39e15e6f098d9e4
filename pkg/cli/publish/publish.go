// Package publish has the commands on names: host names that one document publishes
// each.
package publish

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/lifecycle"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const publishHelp = `Publishes a host name, or changes it. The name leads to a Service in one or several
clusters, to fixed addresses, or to another host name. Repeating the command changes nothing.
Fields of a published name that no flag gives stay as they are; --replace drops them.

With --wait the command returns once the name is seen to be published, or answered by the
authoritative servers of its provider.`

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
		Use:   "publish HOST --service NAMESPACE/NAME --clusters CLUSTERS",
		Short: "Publish a host name",
		Long:  publishHelp,
		Example: "  signpost publish www.shop.example --service web/frontend --clusters dc/one,dc/two --wait=verified\n" +
			"  signpost publish api.shop.example --service web/api --selector region=eu --provider lab --ttl 60\n" +
			"  signpost publish mail.shop.example --address 192.0.2.7 --dry-run",
		Args: terminal.Exactly(1, "one host name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.read(args[0]); err != nil {
				return err
			}
			return r.publish(cmd.Context(), p, cmd.Flags().Changed)
		},
	}
	const longest = 5 * time.Minute
	flags := cmd.Flags()
	flags.StringVar(&r.project, "project", connect.DefaultProject, "the `PROJECT` of the name")
	flags.StringVar(&r.spec.Service, "service", "", "the Service whose addresses the name gets, as `NAMESPACE/NAME`")
	flags.StringSliceVar(&r.clusters, "clusters", nil, "the `CLUSTERS` in which the Service is, as provider/cluster, separated by commas")
	flags.StringToStringVar(&r.selector, "selector", nil, "in place of --clusters: `LABELS` that a cluster has to have, as in region=eu")
	flags.StringSliceVar(&r.spec.Addresses, "address", nil, "in place of --service: fixed IP `ADDRESSES`")
	flags.StringVar(&r.spec.CNAME, "cname", "", "in place of --service: a fixed host `NAME`")
	flags.StringVar(&r.spec.Provider, "provider", "", "the `PROVIDER` of the project (default: the one that serves the name)")
	flags.StringVar(&r.scope, "scope", "", "public (default): addresses of all clusters; cluster: those of each of --clusters, by a provider associated with it")
	flags.Int64Var(&r.spec.TTL, "ttl", 0, "`SECONDS` for which answers may be kept (default: the DNS provider's)")
	flags.StringSliceVar(&r.spec.RecordTypes, "type", nil, "the `TYPES` to publish, of A, AAAA, CNAME and SRV (default: all but SRV)")
	flags.BoolVar(&r.replace, "replace", false, "drop what the name has and no flag gives")
	flags.StringVar(&r.takeover, "takeover", "", "the deployment intent `GROUP` that publishes the host name now and gives it up, as app/version/group")
	flags.StringVar(&r.confirm, "confirm", "", "the `TOKEN` of the plan to carry out; refused when anything changed since")
	flags.BoolVar(&r.dryRun, "dry-run", false, "show the plan, and change nothing")
	flags.StringVar(&r.wait, "wait", "", "wait until the name is instantiated, `published` or verified")
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
	r.host, r.spec.Scope = canonical, intent.Scope(r.scope)
	if r.wait != "" && !slices.Contains([]string{"instantiated", "published", "verified"}, r.wait) {
		return terminal.Usagef("--wait: %q is nothing to wait for; give instantiated, published or verified", r.wait)
	}
	if len(r.clusters) > 0 && len(r.selector) > 0 {
		return terminal.Usagef("--clusters and --selector exclude each other: list the clusters, or give labels that they have")
	}
	if len(r.clusters)+len(r.selector) > 0 {
		r.spec.Clusters = &intent.ClusterChoice{Names: r.clusters, Selector: r.selector}
		for n, cluster := range r.clusters {
			r.clusters[n] = strings.Replace(cluster, "+", "/", 1)
		}
	}
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
	name, asRead, err := r.wanted(ctx, api, path, given)
	if err != nil {
		return err
	}
	body, err := json.Marshal(name)
	if err != nil {
		return err
	}
	query := connect.Query{"takeover": r.takeover, "confirm": r.confirm, "dryRun": connect.If(r.dryRun)}
	response, err := r.put(ctx, p, api, query.Of(path), body, asRead)
	if err != nil {
		return err
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
	return r.output.Print(p.Out, answer, func(w io.Writer, _ bool) error { return printName(w, response.Body, answer) })
}

// wanted is the document of the name with what the flags give, and the condition that the one it
// follows from is still the same.
func (r *publication) wanted(ctx context.Context, api *client.Client, path string, given func(flag string) bool) (intent.Resource[intent.Name], http.Header, error) {
	next := intent.Resource[intent.Name]{Metadata: intent.Metadata{Name: r.host}, Spec: r.spec}
	if r.replace {
		return next, nil, nil
	}
	stored, err := api.Do(ctx, http.MethodGet, path, nil, nil)
	if refused, is := errors.AsType[*client.Error](err); is && refused.Status == http.StatusNotFound {
		return next, http.Header{"If-None-Match": {"*"}}, nil
	}
	if err != nil {
		return next, nil, err
	}
	var now intent.Resource[intent.Name]
	if err := json.Unmarshal(stored.Body, &now); err != nil {
		return now, nil, err
	}
	r.change(&now.Spec, given)
	return now, http.Header{"If-Match": stored.Header["Etag"]}, nil
}

// change gives a name what the flags give.
func (r *publication) change(name *intent.Name, given func(flag string) bool) {
	if given("service") || given("address") || given("cname") {
		name.Service, name.Addresses, name.CNAME = r.spec.Service, r.spec.Addresses, r.spec.CNAME
		if !given("service") { // what is for Services alone
			name.Clusters, name.Routing, name.Scope = nil, nil, ""
		}
	}
	if given("clusters") || given("selector") {
		name.Clusters = r.spec.Clusters
	}
	if given("provider") {
		name.Provider = r.spec.Provider
	}
	if given("scope") {
		name.Scope = r.spec.Scope
	}
	if given("ttl") {
		name.TTL = r.spec.TTL
	}
	if given("type") {
		name.RecordTypes = r.spec.RecordTypes
	}
}

// put sends the name. If its project is the default one and does not exist, it is made. It does not stay without the name.
func (r *publication) put(ctx context.Context, p terminal.Program, api *client.Client, path string, body []byte, asRead http.Header) (*client.Response, error) {
	response, err := api.Do(ctx, http.MethodPut, path, bytes.NewReader(body), asRead)
	var refused *client.Error
	if r.project != connect.DefaultProject || !errors.As(err, &refused) || refused.Status != http.StatusNotFound {
		return response, err
	}
	remove, err := connect.MakeDefaultProject(ctx, api, p.Err)
	if err != nil {
		return nil, err
	}
	if response, err = api.Do(ctx, http.MethodPut, path, bytes.NewReader(body), asRead); err != nil || r.dryRun {
		remove()
	}
	return response, err
}

// named is a name as it is stored, with its status.
type named struct {
	Metadata intent.Metadata   `json:"metadata"`
	Status   intent.NameReport `json:"status"`
}

// printName tells what the command changed, and how the name is now.
func printName(w io.Writer, accepted, now []byte) error {
	var changed, name named
	if err := cmp.Or(json.Unmarshal(accepted, &changed), json.Unmarshal(now, &name)); err != nil {
		return err
	}
	terminal.Printf(w, "%s %s: published %s, verified %s\n", terminal.Plain(name.Metadata.Name), name.Status.State, name.Status.Published, name.Status.Verified)
	for _, warning := range changed.Status.Warnings {
		terminal.Printf(w, "warning: %s\n", terminal.Plain(warning))
	}
	if len(name.Status.Records)+len(changed.Status.Changes) == 0 {
		return nil
	}
	terminal.Printf(w, "\n")
	t := terminal.NewTable("TYPE", "TARGETS", "CHANGE")
	told := map[string]bool{}
	for _, change := range changed.Status.Changes {
		told[change.Type] = true
		t.Add(change.Type, lifecycle.TargetsCell(change.Action, change.Before, change.Targets)+lifecycle.TTLCell(change.Action, change.TTLBefore, change.TTL), change.Action)
	}
	for _, record := range name.Status.Records {
		if !told[record.Type] {
			t.Add(record.Type, strings.Join(record.Targets, " "), "unchanged")
		}
	}
	return t.Write(w)
}
