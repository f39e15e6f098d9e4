package admit

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The longest names of Kubernetes, in characters.
const (
	longestLabel     = 63
	longestSubdomain = 253
)

var (
	labelValuePattern  = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
	dnsLabelPattern    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	searchLabelPattern = regexp.MustCompile(`^_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)
	variablePattern    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	secretKeyPattern   = regexp.MustCompile(`^[-._a-zA-Z0-9]+$`)
)

// isLabelValue tells whether a text is a label value of Kubernetes, and not
// empty: the rule for the names of all documents.
func isLabelValue(text string) bool {
	return len(text) <= longestLabel && labelValuePattern.MatchString(text)
}

// isDNSLabel tells whether a text is an RFC 1123 label.
func isDNSLabel(text string) bool {
	return len(text) <= longestLabel && dnsLabelPattern.MatchString(text)
}

// isSubdomain tells whether a text is an RFC 1123 subdomain.
func isSubdomain(text string) bool {
	if len(text) > longestSubdomain {
		return false
	}
	for label := range strings.SplitSeq(text, ".") {
		if !dnsLabelPattern.MatchString(label) {
			return false
		}
	}
	return true
}

// hasLongLabel reports whether one of the labels of a name is longer than DNS allows.
func hasLongLabel(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "."), func(label string) bool { return len(label) > longestLabel })
}

// isQualifiedName tells whether a text is a key of labels or annotations:
// a label value, with a subdomain and a slash before it or not.
func isQualifiedName(text string) bool {
	prefix, name, prefixed := strings.Cut(text, "/")
	if !prefixed {
		return isLabelValue(text)
	}
	return isSubdomain(prefix) && isLabelValue(name)
}

// ours tells whether a key of labels or annotations belongs to Signpost.
func ours(key string) bool {
	prefix, _, prefixed := strings.Cut(key, "/")
	return prefixed && (prefix == "signpost.dev" || strings.HasSuffix(prefix, ".signpost.dev"))
}

const (
	keyAdvice   = "use a name of at most 63 letters, digits, '-', '_' and '.', with a DNS domain and '/' before it or not"
	valueAdvice = "use at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
	oursAdvice  = "is Signpost's own; choose another key"
)

// labels checks a map of labels.
func (r *review) labels(at pointer, labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if !isQualifiedName(key) {
			r.refusef(at.key(key), "%s is no key of a label; %s", quote(key), keyAdvice)
		}
		if value := labels[key]; value != "" && !isLabelValue(value) {
			r.refusef(at.key(key), "%s is no value of a label; %s", quote(value), valueAdvice)
		}
	}
}

// annotations checks the keys and the size of a map of annotations.
func (r *review) annotations(at pointer, annotations map[string]string) {
	const mostBytes = 256 << 10
	size := 0
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		size += len(key) + len(annotations[key])
		if !isQualifiedName(key) {
			r.refusef(at.key(key), "%s is no key of an annotation; %s", quote(key), keyAdvice)
		}
	}
	if size > mostBytes {
		r.refusef(at, "holds %d bytes; Kubernetes takes at most %d", size, mostBytes)
	}
}

// slug turns a name into an RFC 1123 label of at most so many characters.
// Different names may get the same slug.
func slug(name string, longest int) string {
	var b strings.Builder
	for _, c := range strings.ToLower(name) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			b.WriteRune(c)
		} else if b.Len() > 0 && !strings.HasSuffix(b.String(), "-") {
			b.WriteByte('-')
		}
	}
	text := b.String()
	if len(text) > longest {
		text = text[:longest]
	}
	return strings.Trim(text, "-")
}

// hash is 8 hex digits that tell names apart whose slugs are the same.
func hash(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:4])
}
