package connect

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// nothing is to offer but what the server tells.
const nothing = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace

// Form is a form in which people write a path: whole, or its names alone.
type Form struct {
	pattern   string // the path, with a star for each name
	separator string // between names; empty for the whole path
}

// Short is the form that has the names of a pattern alone, with slashes between them.
func Short(pattern string) Form { return Form{pattern, "/"} }

// CompletePath completes what get and delete take: the path of any document, whole or in a
// short form.
func (c *Connection) CompletePath(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	forms := []Form{Short(document.GroupPattern), Short(document.CloudPattern), Short(document.DNSCRIntentPattern), {document.ClusterPattern, "+"}}
	for _, kind := range intent.Kinds() {
		pattern := strings.ReplaceAll(kind.Shape, "/", "/*/") + "/*"
		pattern = strings.Replace(pattern, "composite-apps/*", "composite-apps/*/*", 1)
		forms = append(forms, Form{pattern: pattern})
	}
	return c.Complete(forms...)(cmd, args, typed)
}

// CompleteOwner completes deployment intent groups, logical clouds and providers.
func (c *Connection) CompleteOwner(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return c.Complete(Short(document.GroupPattern), Short(document.CloudPattern),
		Form{pattern: document.GroupPattern}, Form{pattern: document.CloudPattern}, Form{pattern: document.ProviderPattern})(cmd, args, typed)
}

// CompleteProvider completes the path of one provider.
func (c *Connection) CompleteProvider(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return c.Complete(Form{pattern: document.ProviderPattern})(cmd, args, typed)
}

// CompleteCluster completes a cluster.
func (c *Connection) CompleteCluster(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return c.Complete(Short(document.ClusterPattern), Form{pattern: document.ClusterPattern})(cmd, args, typed)
}

// CompleteClusters completes any number of clusters.
func (c *Connection) CompleteClusters(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return c.CompleteCluster(cmd, nil, typed)
}

// CompleteHost completes a host name of any project.
func (c *Connection) CompleteHost(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	var found client.FoundNamePage
	query := url.Values{"name": {typed + "*"}}
	if len(args) > 0 {
		return nil, nothing
	}
	if _, err := c.Ask(cmd.Context(), http.MethodGet, "names?"+query.Encode(), nil, &found); err != nil {
		return nil, nothing
	}
	var hosts []string
	for _, name := range found.Items {
		hosts = append(hosts, name.Name)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), nothing
}

// Complete completes the first argument in one of the forms, segment by segment, with the
// documents of the server. If the server does not answer, there is nothing to offer.
func (c *Connection) Complete(forms ...Form) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, nothing
		}
		var found []string
		read := map[string][]listed{}
		for _, form := range forms {
			words, err := c.words(cmd.Context(), form, typed, read)
			if _, refused := errors.AsType[*client.Error](err); err != nil && !refused {
				return nil, nothing
			}
			found = append(found, words...)
		}
		found = slices.DeleteFunc(found, func(word string) bool { return !strings.HasPrefix(word, typed) })
		slices.Sort(found)
		return slices.Compact(found), nothing
	}
}

// words are how the typed text can go on in a form.
func (c *Connection) words(ctx context.Context, form Form, typed string, read map[string][]listed) ([]string, error) {
	separator := cmp.Or(form.separator, "/")
	names := strings.Split(typed, separator)
	names = names[:len(names)-1]
	before := strings.Join(append(slices.Clone(names), ""), separator)
	path, rest := form.next(names)
	if len(rest) == 0 {
		return nil, nil
	}
	after := ""
	if slices.Contains(rest[1:], "*") || rest[0] != "*" {
		after = separator
	}
	if rest[0] != "*" {
		return []string{before + rest[0] + after}, nil
	}
	app := ""
	if form.versioned(len(path)) {
		app, path = path[len(path)-1], path[:len(path)-1]
	}
	items, err := c.list(ctx, strings.Join(path, "/"), read)
	var words []string
	for _, i := range items {
		switch app {
		case "":
			words = append(words, before+i.Metadata.Name+after)
		case i.Metadata.Name:
			words = append(words, before+i.Spec.Version+after)
		}
	}
	return words, err
}

// next is the path that the names lead to, and the rest of the pattern. Both are empty if
// the names do not fit, or nothing is left.
func (f Form) next(names []string) (path, rest []string) {
	pattern := strings.Split(f.pattern, "/")
	for at, segment := range pattern {
		switch {
		case segment != "*" && f.separator != "": // it is not typed
			path = append(path, segment)
			continue
		case len(names) == 0:
			return path, pattern[at:]
		case segment != "*" && segment != names[0]:
			return nil, nil
		}
		path, names = append(path, names[0]), names[1:]
	}
	return nil, nil
}

// versioned reports whether a segment of the pattern is the version of a composite app.
func (f Form) versioned(at int) bool {
	pattern := strings.Split(f.pattern, "/")
	return pattern[at] == "*" && pattern[at-1] == "*"
}

// listed is what completion reads of a document.
type listed struct {
	Metadata client.Metadata `json:"metadata"`
	Spec     struct {
		Version string `json:"compositeAppVersion"`
	} `json:"spec"`
}

// list reads a collection once.
func (c *Connection) list(ctx context.Context, collection string, read map[string][]listed) ([]listed, error) {
	if known, ok := read[collection]; ok {
		return known, nil
	}
	var list struct {
		Items []listed `json:"items"`
	}
	_, err := c.Ask(ctx, http.MethodGet, collection, nil, &list)
	read[collection] = list.Items
	return list.Items, err
}
