package hostname

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// longestValue is that of the value of a CAA record, in characters.
const longestValue = 255

var tagPattern = regexp.MustCompile(`^[A-Za-z0-9]{1,15}$`)

// Record is [Canonical] for a name of records that are no addresses: its labels may begin
// with an underscore, as in _dmarc.shop.example and _sip._tcp.shop.example.
func Record(text string) (string, error) {
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
	words := strings.Fields(value)
	switch kind {
	case "MX":
		if len(words) != 2 {
			words = append(words, "", "")[:2]
		}
		return leads(words, "has no preference; give a number from 0 to 65535 and a host name, as in 10 mail.shop.example")
	case "SRV":
		const parts = 4 // priority, weight, port and host name
		if len(words) != parts {
			return "", errors.New("is no SRV record; give priority, weight, port and host name, as in 10 50 5060 sip.shop.example")
		}
		return leads(words, "has no priority, weight and port; give numbers from 0 to 65535, as in 10 50 5060 sip.shop.example")
	case "CAA":
		return authorization(value)
	}
	return target(value)
}

// leads are the words of a record of numbers and a host name.
func leads(words []string, advice string) (string, error) {
	var out strings.Builder
	for _, word := range words[:len(words)-1] {
		number, err := strconv.ParseUint(word, 10, 16)
		if err != nil {
			return "", errors.New(advice)
		}
		fmt.Fprintf(&out, "%d ", number)
	}
	host, err := target(words[len(words)-1])
	return out.String() + host, err
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
	flags, rest, _ := strings.Cut(strings.TrimSpace(value), " ")
	tag, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
	text := strings.TrimSpace(rest)
	if bare, quoted := strings.CutPrefix(text, `"`); quoted {
		if text, quoted = strings.CutSuffix(bare, `"`); !quoted {
			text = `"` // refused below
		}
	} else if text == "" || strings.Contains(text, " ") {
		text = `"` // refused below
	}
	odd := func(c rune) bool { return c < ' ' || c > '~' || c == '"' || c == '\\' }
	number, err := strconv.ParseUint(flags, 10, 8)
	if len(text) > longestValue {
		return "", errors.New("has a value longer than 255 characters; shorten it")
	}
	if err != nil || !tagPattern.MatchString(tag) || strings.ContainsFunc(text, odd) {
		return "", errors.New(`is no CAA record; give flags (0, or 128 for a critical tag), tag and value, as in 0 issue "letsencrypt.org"`)
	}
	return strconv.FormatUint(number, 10) + " " + strings.ToLower(tag) + ` "` + text + `"`, nil
}
