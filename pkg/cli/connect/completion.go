package connect

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/client"
)

// offer is what completion reads of a collection: how its documents go on in the short
// form of a path.
type offer struct {
	collection string
	word       func(metadata client.Metadata, version string) string
}

// CompleteOwner completes a deployment intent group or a logical cloud in its short form,
// name by name, with the documents of the server. If the server does not answer, there is
// nothing to offer.
func (c *Connection) CompleteOwner(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	const nothing = cobra.ShellCompDirectiveNoFileComp
	names := strings.Split(typed, "/")
	names = names[:len(names)-1]
	if len(args) > 0 {
		return nil, nothing
	}
	var found []string
	for _, o := range offers(names) {
		words, err := c.words(cmd.Context(), o)
		if err != nil {
			return nil, nothing
		}
		for _, word := range words {
			found = append(found, strings.Join(append(slices.Clone(names), word), "/"))
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nothing | cobra.ShellCompDirectiveNoSpace
}

// offers are the collections that the next name of a short path is from.
func offers(names []string) []offer {
	name := func(m client.Metadata, _ string) string { return m.Name }
	branch := func(m client.Metadata, _ string) string { return m.Name + "/" }
	switch len(names) {
	case 0:
		return []offer{{"projects", branch}}
	case 1:
		return []offer{{"projects/" + names[0] + "/logical-clouds", name}, {"projects/" + names[0] + "/composite-apps", branch}}
	case 2:
		version := func(m client.Metadata, version string) string {
			if m.Name != names[1] {
				return ""
			}
			return version + "/"
		}
		return []offer{{"projects/" + names[0] + "/composite-apps", version}}
	case 3:
		return []offer{{"projects/" + names[0] + "/composite-apps/" + names[1] + "/" + names[2] + "/deployment-intent-groups", name}}
	}
	return nil
}

// words are the next words of an offer.
func (c *Connection) words(ctx context.Context, o offer) ([]string, error) {
	var list struct {
		Items []struct {
			Metadata client.Metadata `json:"metadata"`
			Spec     struct {
				Version string `json:"compositeAppVersion"`
			} `json:"spec"`
		} `json:"items"`
	}
	if _, err := c.Ask(ctx, http.MethodGet, o.collection, nil, &list); err != nil {
		return nil, err
	}
	var words []string
	for _, item := range list.Items {
		if word := o.word(item.Metadata, item.Spec.Version); word != "" {
			words = append(words, word)
		}
	}
	return words, nil
}
