package intent

import "strings"

// BuiltIn is the publisher inside Signpost, which needs no external-dns.
const BuiltIn = "built-in"

// publisherPrefix begins the cluster provider that stands for built-in publishers. No
// cluster provider of a user's begins so: their names begin with a letter or a digit.
const publisherPrefix = "_publisher."

// Home is where the names of a provider are published from: the cluster of its
// external-dns, or the publisher inside Signpost.
type Home struct {
	ClusterProvider string `json:"clusterProvider,omitempty"`
	Cluster         string `json:"cluster,omitempty"`
	Publisher       string `json:"publisher,omitempty"` // BuiltIn; excludes a cluster
}

// Ref names the cluster of the home. For the built-in publisher this is a cluster that
// exists in Signpost alone, named for the provider.
func (h *Home) Ref(provider Path) *ClusterRef {
	switch {
	case h == nil:
		return nil
	case h.BuiltIn():
		ref := PublisherOf(provider)
		return &ref
	}
	return &ClusterRef{ClusterProvider: h.ClusterProvider, Cluster: h.Cluster}
}

// BuiltIn tells whether the home is the built-in publisher; nil is none.
func (h *Home) BuiltIn() bool { return h != nil && h.Publisher != "" }

// HomeOf is the home that a cluster stands for; nil of nil.
func HomeOf(ref *ClusterRef) *Home {
	switch {
	case ref == nil:
		return nil
	case ref.IsPublisher():
		return &Home{Publisher: BuiltIn}
	}
	return &Home{ClusterProvider: ref.ClusterProvider, Cluster: ref.Cluster}
}

// PublisherOf names the cluster that stands for the built-in publisher of a provider.
func PublisherOf(provider Path) ClusterRef {
	return ClusterRef{ClusterProvider: publisherPrefix + provider.Segment("projects"), Cluster: provider.Name()}
}

// IsPublisher tells whether the cluster stands for the built-in publisher of a provider.
func (r ClusterRef) IsPublisher() bool { return strings.HasPrefix(r.ClusterProvider, publisherPrefix) }

// IsPublisher tells whether a cluster ("provider+cluster") stands for the built-in
// publisher of a provider.
func IsPublisher(cluster string) bool { return strings.HasPrefix(cluster, publisherPrefix) }

// HomeWord is a home ("provider+cluster") in the word that answers have for it.
func HomeWord(cluster string) string {
	if IsPublisher(cluster) {
		return BuiltIn
	}
	return cluster
}

// ClusterWord is a cluster ("provider+cluster") as people write it: provider/cluster.
func ClusterWord(cluster string) string { return strings.Replace(cluster, "+", "/", 1) }

// ClusterWords are those of several clusters.
func ClusterWords(clusters []string) []string {
	words := make([]string, len(clusters))
	for n, cluster := range clusters {
		words[n] = ClusterWord(cluster)
	}
	return words
}

// publishedProvider is the document of the provider whose built-in publisher a cluster
// stands for.
func (r ClusterRef) publishedProvider() Path {
	return Join("projects", strings.TrimPrefix(r.ClusterProvider, publisherPrefix), "dns-update-records", r.Cluster)
}
