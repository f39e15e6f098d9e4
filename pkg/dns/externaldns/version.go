package externaldns

import (
	"fmt"
	"strconv"
	"strings"
)

// Version is a release of external-dns, ordered by <. The zero value stands
// for "not said". Make one with [ParseVersion].
type Version uint32

// A version packs major, minor and patch into ten bits each.
const (
	versionBits         = 10
	minorUnit   Version = 1 << versionBits
	majorUnit   Version = 1 << (2 * versionBits)
	partLimit           = 1 << versionBits
)

// The releases whose command lines are proven by tests.
const (
	V020 = 20 * minorUnit
	V021 = 21 * minorUnit
	V022 = 22 * minorUnit

	// OldestVersion is the first release that Compile renders for.
	OldestVersion = V020
	// DefaultVersion is what a record gets that names neither version nor image.
	DefaultVersion = V022
)

// Image is where the Kubernetes project publishes external-dns, without a tag.
const Image = "registry.k8s.io/external-dns/external-dns"

// ParseVersion reads "v0.22.0"; the v may be missing. Pre-releases and build
// metadata are refused: their flags are not known.
func ParseVersion(text string) (Version, error) {
	parts := strings.Split(strings.TrimPrefix(text, "v"), ".")
	if len(parts) != 3 {
		return 0, fmt.Errorf("%s is not a version of external-dns; write it as %s", clip(text), DefaultVersion)
	}
	var version Version
	for _, part := range parts {
		number, err := strconv.ParseUint(part, 10, 16)
		if err != nil || number >= partLimit {
			return 0, fmt.Errorf("%s is not a version of external-dns; write it as %s", clip(text), DefaultVersion)
		}
		version = version<<versionBits | Version(number)
	}
	return version, nil
}

// String writes the version as "v0.22.0".
func (v Version) String() string {
	return fmt.Sprintf("v%d.%d.%d", v/majorUnit, v/minorUnit%partLimit, v%partLimit)
}
