package document

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// CleanPath is a path as people write it ("/v2/project/shop/") in the form
// that documents have below /v2 ("projects/shop").
func CleanPath(text string) (intent.Path, error) {
	path := strings.Trim(strings.TrimSpace(text), "/")
	if path != "v2" {
		path = strings.TrimPrefix(path, "v2/")
	}
	if first, rest, _ := strings.Cut(path, "/"); first == "project" {
		path = strings.TrimSuffix("projects/"+rest, "/")
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "" || segment == "." || segment == ".." || strings.ContainsFunc(segment, isOdd) {
			return "", fmt.Errorf("%q is not a path below /v2; write one as in projects/shop/dns-update-records/lab", text)
		}
	}
	return intent.Path(path), nil
}

// isOdd tells whether no name and no collection contains the character.
func isOdd(r rune) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return !strings.ContainsRune(letters+"0123456789-_.*"+strings.ToUpper(letters), r)
}

// Kind is the last collection of a path: dns-intents for a DNS intent and for
// the collection of DNS intents.
func Kind(path intent.Path) string {
	collection, _ := path.Split()
	return LastSegment(intent.Path(collection))
}

// LastSegment is the name of a document or of a collection.
func LastSegment(path intent.Path) string {
	return string(path[strings.LastIndexByte(string(path), '/')+1:])
}

// The paths of documents that have short forms or actions, with a star for each name.
const (
	ClusterPattern     = "cluster-providers/*/clusters/*"
	DNSCRIntentPattern = "projects/*/logical-clouds/*/dns-cr-intents/*"
	CloudPattern       = "projects/*/logical-clouds/*"
	GroupPattern       = "projects/*/composite-apps/*/*/deployment-intent-groups/*"
	ProviderPattern    = "projects/*/dns-update-records/*"
)

// pathOf returns the path of a document, written out or as its names alone. The pattern
// is a path with a star for each name. The path is empty if the text is neither.
func pathOf(text, pattern string) (intent.Path, error) {
	path, err := CleanPath(text)
	if err != nil {
		return "", terminal.AsUsageError(err)
	}
	names, whole := strings.Split(string(path), "/"), strings.Split(pattern, "/")
	switch {
	case len(names) == len(whole) && Kind(path) == Kind(intent.Path(pattern)):
		return path, nil
	case len(names) != strings.Count(pattern, "*") || names[0] == "projects" || names[0] == "cluster-providers":
		return "", nil
	}
	for i := range whole {
		if whole[i] == "*" {
			whole[i], names = names[0], names[1:]
		}
	}
	return intent.Join(whole...), nil
}

// ClusterPath is a cluster's path, written out, as provider/cluster or as
// provider+cluster.
func ClusterPath(text string) (intent.Path, error) {
	path, err := pathOf(strings.Replace(text, "+", "/", 1), ClusterPattern)
	if err == nil && path == "" {
		err = terminal.Usagef("%q is not a cluster; write provider/cluster, or cluster-providers/…/clusters/…", text)
	}
	return path, err
}

// DNSCRIntentPath is a DNS CR intent's path, written out or as
// project/logical-cloud/intent.
func DNSCRIntentPath(text string) (intent.Path, error) {
	path, err := pathOf(text, DNSCRIntentPattern)
	if err == nil && path == "" {
		err = terminal.Usagef("%q is not a DNS CR intent; write project/logical-cloud/intent, or projects/…/logical-clouds/…/dns-cr-intents/…", text)
	}
	return path, err
}

// OwnerPath is the path of a deployment intent group, written out or as
// project/composite-app/version/group, or of a logical cloud, written out or as
// project/logical-cloud.
func OwnerPath(text string) (intent.Path, error) {
	path, err := pathOf(text, CloudPattern)
	if err == nil && path == "" {
		path, err = pathOf(text, GroupPattern)
	}
	if err == nil && path == "" && IsName(text) {
		err = errIsName(text)
	}
	if err == nil && path == "" {
		err = terminal.Usagef("%q is not a deployment intent group; write project/composite-app/version/group, or "+
			"projects/…/composite-apps/…/…/deployment-intent-groups/…; a logical cloud is project/logical-cloud, or projects/…/logical-clouds/…", text)
	}
	return path, err
}

func errIsName(text string) error {
	return terminal.Usagef("%q is a name; signpost whois, history, publish, unpublish and rollback are for names", text)
}

// IsName tells whether a text is a host name, or the path of a name.
func IsName(text string) bool {
	path, err := CleanPath(text)
	return err == nil && path.Segment("names") != "" || strings.Contains(text, ".") && !strings.Contains(text, "/")
}

// AnyPath is a path written out or in a short form that tables print. Deployment intent
// groups, logical clouds, clusters (provider+cluster) and DNS CR intents have one.
func AnyPath(text string) (intent.Path, error) {
	if strings.Contains(text, "+") {
		return ClusterPath(text)
	}
	path, err := CleanPath(text)
	if err != nil {
		return "", terminal.AsUsageError(err)
	}
	if IsName(text) && path.Segment("names") == "" {
		return "", errIsName(text)
	}
	first, _, below := strings.Cut(string(path), "/")
	if !below || slices.Contains([]string{"projects", "cluster-providers", "names"}, first) {
		return path, nil
	}
	for _, short := range []func(string) (intent.Path, error){OwnerPath, DNSCRIntentPath} {
		if long, err := short(text); err == nil {
			return long, nil
		}
	}
	return path, nil
}

// UpdatedPath is what can be updated: what has a lifecycle, or a record by its
// whole path.
func UpdatedPath(text string) (intent.Path, error) {
	path, err := CleanPath(text)
	if err == nil && IsRecord(path) {
		return path, nil
	}
	return OwnerPath(text)
}

// IsRecord says whether a path is a provider's.
func IsRecord(path intent.Path) bool {
	return Kind(path) == "dns-update-records" && path.Name() != ""
}

// ShortOwner is the path of a deployment intent group or a logical cloud in its
// short form; any other path as it is.
func ShortOwner(path intent.Path) string {
	segments := strings.Split(string(path), "/")
	const group, cloud = 7, 4
	switch {
	case len(segments) == group && Kind(path) == "deployment-intent-groups":
		return strings.Join([]string{segments[1], segments[3], segments[4], segments[6]}, "/")
	case len(segments) == cloud && Kind(path) == "logical-clouds":
		return segments[1] + "/" + segments[3]
	}
	return string(path)
}
