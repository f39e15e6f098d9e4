package hostname

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// longestValue is that of the value of a CAA record, in characters.
const longestValue = 255

// authorizationPattern is that of flags, a tag, and a value in quotes or of one word, in
// printable ASCII without quotes and backslashes.
var authorizationPattern = regexp.MustCompile(`^(\d+)\s+([A-Za-z0-9]{1,15})\s+(?:"([^"\\[:^print:]]*)"|([^"\\[:^graph:]]+))$`)

// CanonicalUnderscored is [Canonical] for a name of records that are no addresses: its labels may begin
// with an underscore, as in _dmarc.shop.example and _sip._tcp.shop.example.
func CanonicalUnderscored(text string) (string, error) {
	labels := strings.Split(strings.TrimSuffix(text, "."), ".")
	last := -1
	for n, label := range labels {
		if strings.HasPrefix(label, "_") {
			last = n
		}
	}
	for n, label := range labels[:last+1] {
		labels[n] = strings.ToLower(label)
		if n == 0 && label == "*" {
			continue
		}
		if err := CheckLabel(strings.TrimPrefix(labels[n], "_")); err != nil {
			return "", err
		}
		if len(label) > longestLabel { // with its underscore
			return "", errLongLabel()
		}
	}
	host, err := Canonical(strings.Join(labels[last+1:], "."))
	if err != nil || last < 0 {
		return host, err
	}
	if host = strings.Join(labels[:last+1], ".") + "." + host; len(host) > Longest {
		return "", errors.New("is longer than 253 characters in its ASCII form")
	}
	return host, nil
}

// OfService is the host whose service a name such as _sip._tcp.shop.example tells of; empty
// for other names.
func OfService(name string) string {
	port, rest, _ := strings.Cut(name, ".")
	protocol, host, _ := strings.Cut(rest, ".")
	if !strings.HasPrefix(port, "_") || !strings.HasPrefix(protocol, "_") {
		return ""
	}
	return host
}

// HasUnderscore tells whether a label of a name begins with an underscore. No host has
// such a name.
func HasUnderscore(name string) bool {
	return strings.HasPrefix(name, "_") || strings.Contains(name, "._")
}

// Value brings the value of an MX, NS, PTR, SRV or CAA record into canonical form. It is
// that of a zone file, with a host name as [Canonical] answers it. The error names the
// fault and the remedy.
func Value(kind, value string) (string, error) {
	switch kind {
	case "MX":
		return numbered(value, 1, "is no MX record; give a preference from 0 to 65535 and a host name, as in 10 mail.shop.example")
	case "SRV":
		return numbered(value, 3, "is no SRV record; give priority, weight and port from 0 to 65535, and a host name, as in 10 50 5060 sip.shop.example")
	case "CAA":
		return authorization(value)
	}
	return target(value)
}

// numbered is a record of so many numbers and a host name. The advice tells what else
// a value lacks.
func numbered(value string, count int, advice string) (string, error) {
	words := strings.Fields(value)
	if len(words) != count+1 {
		return "", errors.New(advice)
	}
	for i, word := range words[:count] {
		number, err := strconv.ParseUint(word, 10, 16)
		if err != nil {
			return "", errors.New(advice)
		}
		words[i] = strconv.FormatUint(number, 10)
	}
	host, err := target(words[count])
	words[count] = host
	return strings.Join(words, " "), err
}

// target is a host name that a record leads to.
func target(text string) (string, error) {
	host, err := Canonical(strings.TrimSpace(text))
	if err == nil && strings.HasPrefix(host, "*.") {
		err = errors.New("is a wildcard, and no host to lead to; give one host name")
	}
	return host, err
}

// authorization is a CAA record (RFC 8659) with its value in quotes.
func authorization(value string) (string, error) {
	parts := authorizationPattern.FindStringSubmatch(strings.TrimSpace(value))
	if parts == nil {
		return "", errNoAuthorization()
	}
	flags, err := strconv.ParseUint(parts[1], 10, 8)
	if err != nil {
		return "", errNoAuthorization()
	}
	text := parts[3] + parts[4] // one of them is empty
	if len(text) > longestValue {
		return "", errors.New("has a value longer than 255 characters; shorten it")
	}
	return strconv.FormatUint(flags, 10) + " " + strings.ToLower(parts[2]) + ` "` + text + `"`, nil
}

func errNoAuthorization() error {
	return errors.New(`is no CAA record; give flags (0, or 128 for a critical tag), tag and value, as in 0 issue "letsencrypt.org"`)
}
