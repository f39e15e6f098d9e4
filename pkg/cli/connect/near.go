package connect

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/nearest"
)

// unknownCluster adds to a refusal the cluster that was probably meant, and the command that
// lists clusters. If the cluster exists, or the lists cannot be read, the refusal stays as it is.
func (c *Connection) unknownCluster(ctx context.Context, path intent.Path, err error) error {
	problem, is := errors.AsType[*client.Error](err)
	if !is {
		return err
	}
	provider, cluster := path.Segment("cluster-providers"), path.Segment("clusters")
	lists := "signpost get cluster-providers/" + provider + "/clusters lists the clusters of " + provider
	clusters, failed := c.names(ctx, "cluster-providers/"+provider+"/clusters")
	if IsMissing(failed) {
		lists = "signpost get cluster-providers lists the cluster providers"
		var providers []string
		providers, failed = c.names(ctx, "cluster-providers")
		if provider = nearest.Name(provider, providers); provider != "" {
			clusters, failed = c.names(ctx, "cluster-providers/"+provider+"/clusters")
		}
	} else if slices.Contains(clusters, cluster) {
		return err
	}
	if failed != nil {
		return err
	}
	told := *problem
	if near := nearest.Name(cluster, clusters); near != "" {
		told.Detail += "; did you mean " + provider + "/" + near + "?"
	}
	told.Detail += "\n  " + lists
	return &told
}

// names are the names of the documents of a collection.
func (c *Connection) names(ctx context.Context, collection string) ([]string, error) {
	items, err := c.list(ctx, collection, map[string][]listed{})
	var names []string
	for _, i := range items {
		names = append(names, i.Metadata.Name)
	}
	return names, err
}

// absent is a document that a refusal says to create.
var absent = regexp.MustCompile(`([a-z][\w.-]*(?:/[\w.*+-]+)+)(?:, which)? does not exist; create it first`)

// Meant adds to a refusal what was probably meant in place of documents that do not exist. The caller has to have the right to list
// their like.
func (c *Connection) Meant(ctx context.Context, err error) error {
	problem, is := errors.AsType[*client.Error](err)
	if !is {
		return err
	}
	told := *problem
	told.Errors = slices.Clone(problem.Errors)
	texts := []*string{&told.Detail}
	for n := range told.Errors {
		texts = append(texts, &told.Errors[n].Detail)
	}
	for _, text := range texts {
		found := absent.FindStringSubmatch(*text)
		if found == nil {
			continue
		}
		path := intent.Path(found[1])
		names, _ := c.names(ctx, path.Collection()) // none, if they cannot be read
		if near := nearest.Name(path.Name(), names); near != "" {
			*text = strings.Replace(*text, "create it first", "did you mean "+near+"? Else create it first", 1)
		}
	}
	return &told
}

// OrCluster adds to a refusal how a cluster is written, if a short path names a logical cloud that does not exist.
func OrCluster(text string, path intent.Path, err error) error {
	problem, is := errors.AsType[*client.Error](err)
	cloud := path.Segment("logical-clouds")
	if !is || problem.Status != http.StatusNotFound || cloud == "" || text != path.Segment("projects")+"/"+cloud {
		return err
	}
	told := *problem
	told.Detail += "; if you mean the cluster, write " + path.Segment("projects") + "+" + cloud
	return &told
}
