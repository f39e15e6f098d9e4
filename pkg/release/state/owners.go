package state

import (
	"path"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// A logical cloud has a lifecycle as a deployment intent group has. It releases the DNS
// of its clusters, as its DNS CR intents say.

// IsCloud tells a logical cloud's path from those of other owners.
func IsCloud(owner intent.Path) bool {
	return strings.HasSuffix(owner.Collection(), "/logical-clouds")
}

// DefaultImage is an image, or its copy in the registry that holds copies.
func DefaultImage(registry, image string) string {
	if registry == "" {
		return image
	}
	_, name, _ := strings.Cut(image, "/")
	return path.Join(registry, name)
}

// IsRecord tells a record's path from a group's.
func IsRecord(owner intent.Path) bool {
	return strings.HasSuffix(owner.Collection(), "/dns-update-records")
}
