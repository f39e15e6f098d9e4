package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// shortID is how many characters of an id or hash go into a name.
const shortID = 8

// OwnerID is the generated txt-owner-id of a record's public scope: sp-{8 of
// installation}-{8 of record uid}, lower case. It never changes, because external-dns
// stops managing names that carry another.
func OwnerID(installation, recordUID string) string {
	return "sp-" + short(installation) + "-" + short(recordUID)
}

// ClusterOwnerID is the generated txt-owner-id of a record's cluster scope on
// one cluster ("provider+cluster").
func ClusterOwnerID(installation, recordUID, cluster string) string {
	return OwnerID(installation, recordUID) + "-" + Hash(cluster)
}

func short(id string) string {
	return strings.ToLower(id[:min(shortID, len(id))])
}

// Hash is eight hexadecimal digits that stand for the parts: other parts, or
// the same parts cut otherwise, give others.
func Hash(parts ...string) string {
	hash := sha256.New()
	for _, part := range parts {
		sum := sha256.Sum256([]byte(part))
		hash.Write(sum[:])
	}
	return hex.EncodeToString(hash.Sum(nil))[:shortID]
}

// Slug is the readable part of a text in the name of an object. It has the letters and
// digits in lower case, one hyphen for each run of others, and at most longest
// characters. It begins and ends in a letter or digit. It is never empty, and not unique:
// add a Hash.
func Slug(text string, longest int) string {
	var b strings.Builder
	for _, c := range strings.ToLower(text) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			b.WriteRune(c)
		} else if s := b.String(); s != "" && !strings.HasSuffix(s, "-") {
			b.WriteByte('-')
		}
	}
	slug := b.String()
	return cmp.Or(strings.Trim(slug[:min(longest, len(slug))], "-"), "x")
}

// longestLabel is the most characters of a label's value and of an RFC 1123 label.
const longestLabel = 63

// labelValue is text as the value of a label: itself where it is one, else its
// beginning with a Hash.
func labelValue(text string) string {
	if isLabelValue(text) {
		return text
	}
	return Slug(text, longestLabel-shortID-1) + "-" + Hash(text)
}

func isLabelValue(text string) bool {
	if text == "" {
		return true
	}
	odd := func(c rune) bool { return !alphanumeric(c) && c != '-' && c != '_' && c != '.' }
	return len(text) <= longestLabel && !strings.ContainsFunc(text, odd) &&
		alphanumeric(rune(text[0])) && alphanumeric(rune(text[len(text)-1]))
}

// IsLabel tells whether text is an RFC 1123 label, which is the strictest of
// Kubernetes' rules for names.
func IsLabel(text string) bool {
	odd := func(c rune) bool { return !alphanumeric(c) && c != '-' }
	return text != "" && len(text) <= longestLabel && text == strings.ToLower(text) && !strings.ContainsFunc(text, odd) &&
		text[0] != '-' && text[len(text)-1] != '-'
}

func alphanumeric(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
