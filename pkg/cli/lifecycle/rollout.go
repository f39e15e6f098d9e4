package lifecycle

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Rollout deploys what documents belong to, once they are stored.
type Rollout struct {
	deploy  bool
	wait    wait
	timeout time.Duration
}

// Flags adds the flags to a command that stores documents.
func (r *Rollout) Flags(cmd *cobra.Command) {
	const longest = 5 * time.Minute
	cmd.Flags().BoolVar(&r.deploy, "deploy", false, "then deploy the providers, cluster DNS and deployment intent groups that the documents belong to")
	r.wait.flag(cmd, intent.Deploy)
	cmd.Flags().DurationVar(&r.timeout, "wait-timeout", longest, "how long to wait with --wait for each deployment")
}

// Check refuses flags that do not go together with each other, or with the documents. Names are published without --deploy.
func (r *Rollout) Check(documents []document.Document) error {
	isName := func(d document.Document) bool { return d.Service == nil && d.Body != nil && intent.IsName(d.Path) }
	if r.wait != "" && !r.deploy && !slices.ContainsFunc(documents, isName) {
		return terminal.Usagef("--wait: nothing is deployed that could be waited for; add --deploy")
	}
	return r.wait.refuse(intent.Deploy, "")
}

// Deploys reports whether --deploy is given.
func (r *Rollout) Deploys() bool { return r.deploy }

// Terminate takes back what is deployed of an owner, and waits for it. It prints a line.
func (r *Rollout) Terminate(ctx context.Context, p terminal.Program, api *client.Client, owner intent.Path) error {
	request := &lifecycle{action: intent.Terminate, owner: owner, wait: waitTerminated, timeout: r.timeout}
	done, err := request.perform(ctx, p, api)
	if err == nil {
		terminal.Printf(p.Out, "%s\n", done)
	}
	return err
}

// Run deploys, one after the other, and prints a line for each owner.
func (r *Rollout) Run(ctx context.Context, p terminal.Program, api *client.Client, documents []document.Document) error {
	deployed := owners(documents)
	if !r.deploy {
		deployed = nil
	}
	for _, owner := range deployed {
		request := &lifecycle{action: intent.Deploy, owner: owner, wait: r.wait, timeout: r.timeout}
		switch intent.KindOf(owner).One {
		case "DNSUpdateRecord":
			request.wait = "" // it has no state to wait for
		case "LogicalCloud":
			request.wait = r.wait.withoutNames()
		}
		done, err := request.perform(ctx, p, api)
		if err != nil {
			return err
		}
		terminal.Printf(p.Out, "%s\n", done)
	}
	return r.awaitNames(ctx, p, api, documents)
}

// awaitNames waits for the names among the documents, which are published as they are stored.
func (r *Rollout) awaitNames(ctx context.Context, p terminal.Program, api *client.Client, documents []document.Document) error {
	if r.wait == "" {
		return nil
	}
	for _, d := range documents {
		if d.Service != nil || d.Body == nil || !intent.IsName(d.Path) {
			continue
		}
		if _, err := AwaitName(ctx, p, api, string(d.Path), string(r.wait), r.timeout); err != nil {
			return err
		}
		terminal.Printf(p.Out, "%s %s\n", d.Path, r.wait)
	}
	return nil
}

// owners are the owners of documents, in the order of their deployment. A logical cloud is
// one if a DNS CR intent of it is given.
func owners(documents []document.Document) []intent.Path {
	var found []intent.Path
	for _, d := range documents {
		if d.Service != nil || d.Action != "" {
			continue
		}
		for path := d.Path; path != ""; path = path.Parent() {
			kind := intent.KindOf(path).One
			if kind == "DNSUpdateRecord" || kind == "DeploymentIntentGroup" {
				found = append(found, path)
			}
			if kind == "DNSCRIntent" {
				found = append(found, path.Parent())
			}
		}
	}
	rank := []string{"DNSUpdateRecord", "LogicalCloud", "DeploymentIntentGroup"}
	slices.SortStableFunc(found, func(a, b intent.Path) int {
		return slices.Index(rank, intent.KindOf(a).One) - slices.Index(rank, intent.KindOf(b).One)
	})
	seen := map[intent.Path]bool{}
	return slices.DeleteFunc(found, func(owner intent.Path) bool {
		again := seen[owner]
		seen[owner] = true
		return again
	})
}
