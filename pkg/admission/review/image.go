package review

import (
	"regexp"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// DefaultImages are the prefixes that are allowed by default: the registries of the
// default images, and the same under another registry (host[:port][/path], empty for
// none).
func DefaultImages(registry string) []string {
	paths := []struct{ registry, path string }{
		{"registry.k8s.io", "/external-dns/"}, {"registry.k8s.io", "/dns/"},
		{"docker.io", "/coredns/"}, {"docker.io", "/signpost-dns/"},
	}
	var prefixes []string
	for _, p := range paths {
		prefixes = append(prefixes, p.registry+p.path)
	}
	if registry = strings.TrimSuffix(registry, "/"); registry != "" {
		for _, p := range paths {
			prefixes = append(prefixes, registry+p.path)
		}
	}
	return prefixes
}

// StockCoreDNS are the prefixes of CoreDNS' own images, and of their copies under
// another registry (empty for none).
func StockCoreDNS(registry string) []string {
	const path = "/coredns/"
	prefixes := []string{"docker.io" + path}
	if registry = strings.TrimSuffix(registry, "/"); registry != "" {
		prefixes = append(prefixes, registry+path)
	}
	return prefixes
}

// Image is a name of a container image in its parts.
type Image struct {
	name string // whole, registry included: registry.k8s.io/external-dns/external-dns
	Tag  string // may be empty
}

// The grammar of image names.
var (
	imagePattern = regexp.MustCompile(`^` +
		`((?:[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?)(?:\.[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?)*(?::[0-9]{1,5})?/)?` +
		`([a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*)` +
		`(?::([\w][\w.-]{0,127}))?` +
		`(?:@(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}))?$`)
)

// ParseImage reads a name of an image. It is zero for what is none.
func ParseImage(text string) Image {
	const longest = 512
	parts := imagePattern.FindStringSubmatch(text)
	if parts == nil || len(text) > longest {
		return Image{}
	}
	host, path := strings.TrimSuffix(parts[1], "/"), parts[2]
	switch {
	case host == "":
		host, path = "docker.io", "library/"+path
	case !strings.ContainsAny(host, ".:") && host != "localhost" && host == strings.ToLower(host):
		host, path = "docker.io", host+"/"+path // the first part is no host: docker.io/coredns/…
	}
	return Image{name: strings.ToLower(host) + "/" + path, Tag: parts[3]}
}

// Under tells whether an image lies under a prefix, in whole parts.
func (i Image) Under(prefix string) bool {
	rest, ok := strings.CutPrefix(i.name, prefix)
	return ok && (strings.HasSuffix(prefix, "/") || rest == "" || rest[0] == '/')
}

// CheckSoftware checks which external-dns runs: a version or an image, or neither.
func CheckSoftware(a *Checker, r *Review, in *intent.Record) {
	const atVersion, atImage = Spec + "/version", Spec + "/image"
	if in.Version != "" && in.Image != "" {
		r.Refusef(atVersion, "cannot stand beside image; remove one of them")
	}
	if in.Version != "" {
		if version, ok := checkVersion(r, atVersion, in.Version); ok {
			in.Version = version.String()
		}
	}
	if in.Image == "" {
		return
	}
	parsed := ReadImage(a, r, atImage, in.Image, externalDNSImage())
	if _, err := externaldns.ParseVersion(parsed.Tag); err == nil {
		checkVersion(r, atImage, parsed.Tag)
	}
}

// externalDNSImage shows what an image is called.
func externalDNSImage() string {
	return externaldns.Image + ":" + externaldns.DefaultVersion.String()
}

// ReadImage reads the name of an image and checks that the server allows it;
// example is one that would do.
func ReadImage(a *Checker, r *Review, at Pointer, text, example string) Image {
	parsed := ParseImage(text)
	if parsed.name == "" {
		r.Refusef(at, "%s is not a name of an image; give one such as %s", Quote(text), example)
	} else if !allowedImage(a, parsed) {
		r.Refusef(at, "%s is not allowed on this server; allowed are images under %s, and --allowed-images of signpost serve allows others", Quote(text), strings.Join(a.Rules.AllowedImages, ", "))
	}
	return parsed
}

func allowedImage(a *Checker, i Image) bool {
	return slices.ContainsFunc(a.Rules.AllowedImages, i.Under)
}

// checkVersion reads a version and checks that its command line is known.
func checkVersion(r *Review, at Pointer, text string) (externaldns.Version, bool) {
	const oldest, newest = externaldns.OldestVersion, externaldns.V022
	const beyond = newest + (externaldns.V022 - externaldns.V021)
	version, err := externaldns.ParseVersion(text)
	switch {
	case err != nil:
		r.Refusef(at, "%s", err)
	case version < oldest || version >= beyond:
		r.Refusef(at, "%s is not supported; supported are the releases from %s up to those of %s", Quote(text), oldest, newest)
	default:
		return version, true
	}
	return 0, false
}

// IsExternalDNS tells the images of external-dns, their copies in other
// registries, and what the record runs as external-dns.
func (i Image) IsExternalDNS(own string) bool {
	return strings.HasSuffix(i.name, "/external-dns/external-dns") || strings.HasSuffix(i.name, "/bitnami/external-dns") ||
		i.name != "" && i.name == ParseImage(own).name
}
