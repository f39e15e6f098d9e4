package admit

import (
	"regexp"
	"strings"

	"github.com/signpost-dns/signpost/pkg/externaldns"
	"github.com/signpost-dns/signpost/pkg/intent"
)

// DefaultImages are the prefixes that are allowed unless told otherwise: the
// registries of the default images, and the same under another registry
// (host[:port][/path], empty for none).
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

// stockCoreDNS are the prefixes of CoreDNS' own images, and of their copies under
// another registry (empty for none).
func stockCoreDNS(registry string) []string {
	const path = "/coredns/"
	prefixes := []string{"docker.io" + path}
	if registry = strings.TrimSuffix(registry, "/"); registry != "" {
		prefixes = append(prefixes, registry+path)
	}
	return prefixes
}

// image is a name of a container image in its parts.
type image struct {
	name   string // whole, registry included: registry.k8s.io/external-dns/external-dns
	tag    string // may be empty
	digest string // may be empty
}

// The grammar of image names.
var (
	imagePattern = regexp.MustCompile(`^` +
		`((?:[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?)(?:\.[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?)*(?::[0-9]{1,5})?/)?` +
		`([a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*)` +
		`(?::([\w][\w.-]{0,127}))?` +
		`(?:@(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}))?$`)
)

// parseImage reads a name of an image. It is zero for what is none.
func parseImage(text string) image {
	const longest = 512
	parts := imagePattern.FindStringSubmatch(text)
	if parts == nil || len(text) > longest {
		return image{}
	}
	host, path := strings.TrimSuffix(parts[1], "/"), parts[2]
	switch {
	case host == "":
		host, path = "docker.io", "library/"+path
	case !strings.ContainsAny(host, ".:") && host != "localhost" && host == strings.ToLower(host):
		host, path = "docker.io", host+"/"+path // the first part is no host: docker.io/coredns/…
	}
	return image{name: strings.ToLower(host) + "/" + path, tag: parts[3], digest: parts[4]}
}

// under tells whether an image lies under a prefix, in whole parts.
func (i image) under(prefix string) bool {
	rest, ok := strings.CutPrefix(i.name, prefix)
	return ok && (strings.HasSuffix(prefix, "/") || rest == "" || rest[0] == '/')
}

// software checks which external-dns runs: a version or an image, or neither.
func (a *Admitter) software(r *review, in *intent.Record) {
	const atVersion, atImage = spec + "/version", spec + "/image"
	if in.Version != "" && in.Image != "" {
		r.refusef(atVersion, "excludes image; give one of them")
	}
	if in.Version != "" {
		if version, ok := r.version(atVersion, in.Version); ok {
			in.Version = version.String()
		}
	}
	if in.Image == "" {
		return
	}
	parsed := a.image(r, atImage, in.Image, externalDNSImage())
	if _, err := externaldns.ParseVersion(parsed.tag); err == nil {
		r.version(atImage, parsed.tag)
	}
}

// externalDNSImage shows what an image is called.
func externalDNSImage() string {
	return externaldns.Image + ":" + externaldns.DefaultVersion.String()
}

// image reads the name of an image and checks that the server allows it;
// example is one that would do.
func (a *Admitter) image(r *review, at pointer, text, example string) image {
	parsed := parseImage(text)
	if parsed.name == "" {
		r.refusef(at, "%s is no name of an image; give one such as %s", quote(text), example)
	} else if !a.allowedImage(parsed) {
		r.refusef(at, "%s is not allowed on this server; allowed are images under %s, and --allowed-images of signpost serve allows others", quote(text), strings.Join(a.rules.AllowedImages, ", "))
	}
	return parsed
}

func (a *Admitter) allowedImage(i image) bool {
	for _, prefix := range a.rules.AllowedImages {
		if i.under(prefix) {
			return true
		}
	}
	return false
}

// version reads a version and checks that its command line is known.
func (r *review) version(at pointer, text string) (externaldns.Version, bool) {
	const oldest, newest = externaldns.OldestVersion, externaldns.V022
	const beyond = newest + (externaldns.V022 - externaldns.V021)
	version, err := externaldns.ParseVersion(text)
	switch {
	case err != nil:
		r.refusef(at, "%s", err)
	case version < oldest || version >= beyond:
		r.refusef(at, "%s is not supported; supported are the releases from %s up to those of %s", quote(text), oldest, newest)
	default:
		return version, true
	}
	return 0, false
}
