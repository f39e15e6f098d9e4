package review

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
	LongestLabel     = 63
	LongestSubdomain = 253
)

var (
	labelValuePattern = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
	dnsLabelPattern   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

	// SearchLabelPattern is of a label of a search domain.
	SearchLabelPattern = regexp.MustCompile(`^_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

	// VariablePattern is of a variable of the environment.
	VariablePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

	// SecretKeyPattern is of a key of a Secret.
	SecretKeyPattern = regexp.MustCompile(`^[-._a-zA-Z0-9]+$`)
)

// IsLabelValue tells whether a text is a label value of Kubernetes, and not
// empty: the rule for the names of all documents.
func IsLabelValue(text string) bool {
	return len(text) <= LongestLabel && labelValuePattern.MatchString(text)
}

// IsDNSLabel tells whether a text is an RFC 1123 label.
func IsDNSLabel(text string) bool {
	return len(text) <= LongestLabel && dnsLabelPattern.MatchString(text)
}

// IsSubdomain tells whether a text is an RFC 1123 subdomain.
func IsSubdomain(text string) bool {
	odd := func(label string) bool { return !dnsLabelPattern.MatchString(label) }
	return len(text) <= LongestSubdomain && !slices.ContainsFunc(strings.Split(text, "."), odd)
}

// HasLongLabel reports whether one of the labels of a name is longer than DNS allows.
func HasLongLabel(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "."), func(label string) bool { return len(label) > LongestLabel })
}

// IsQualifiedName tells whether a text is a key of labels or annotations:
// a label value, with a subdomain and a slash before it or not.
func IsQualifiedName(text string) bool {
	prefix, name, prefixed := strings.Cut(text, "/")
	if !prefixed {
		return IsLabelValue(text)
	}
	return IsSubdomain(prefix) && IsLabelValue(name)
}

// Ours tells whether a key of labels or annotations belongs to Signpost.
func Ours(key string) bool {
	prefix, _, prefixed := strings.Cut(key, "/")
	return prefixed && (prefix == "signpost.dev" || strings.HasSuffix(prefix, ".signpost.dev"))
}

// The advice of errors about keys and values.
const (
	KeyAdvice   = "use a name of at most 63 letters, digits, '-', '_' and '.', with a DNS domain and '/' before it or not"
	ValueAdvice = "use at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
	OursAdvice  = "is Signpost's own; choose another key"
)

// CheckLabels checks a map of labels.
func CheckLabels(r *Review, at Pointer, labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if !IsQualifiedName(key) {
			r.Refusef(at.Key(key), "%s is not a key of a label; %s", Quote(key), KeyAdvice)
		}
		if value := labels[key]; value != "" && !IsLabelValue(value) {
			r.Refusef(at.Key(key), "%s is not a value of a label; %s", Quote(value), ValueAdvice)
		}
	}
}

// CheckAnnotations checks the keys and the size of a map of annotations.
func CheckAnnotations(r *Review, at Pointer, annotations map[string]string) {
	const mostBytes = 256 << 10
	size := 0
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		size += len(key) + len(annotations[key])
		if !IsQualifiedName(key) {
			r.Refusef(at.Key(key), "%s is not a key of an annotation; %s", Quote(key), KeyAdvice)
		}
	}
	if size > mostBytes {
		r.Refusef(at, "holds %d bytes; Kubernetes takes at most %d", size, mostBytes)
	}
}

// Slug turns a name into an RFC 1123 label of at most so many characters.
// Different names may get the same slug.
func Slug(name string, longest int) string {
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

// Hash is 8 hex digits that tell names apart whose slugs are the same.
func Hash(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:4])
}
