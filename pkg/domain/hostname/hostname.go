// Package hostname brings names of hosts and zones into their canonical form, and makes
// names of hosts from templates. Names are stored, compared and published in that form.
package hostname

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// The longest names of DNS in their text form, in characters.
const (
	Longest      = 253
	longestLabel = 63
)

var labelPattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// Canonical brings a host name into the form in which it is stored, compared and
// published: lower case, without a trailing dot, in ASCII (IDNA 2008). A "*" may stand
// for the whole first label. The error names the fault and the remedy.
func Canonical(text string) (string, error) {
	name, err := ASCII(strings.TrimSuffix(text, "."))
	if err != nil {
		return "", err
	}
	if !strings.Contains(name, ".") {
		return "", errors.New("is not a full host name; give one with its domain, such as www.lab.example")
	}
	return checked(name, strings.TrimPrefix(name, "*."), "give a host name such as www.lab.example")
}

// checked returns a name whose labels are right. The advice is for a name that ends in
// a number.
func checked(name, labels, advice string) (string, error) {
	last := ""
	for last = range strings.SplitSeq(labels, ".") {
		if err := CheckLabel(last); err != nil {
			return "", err
		}
	}
	if strings.Trim(last, "0123456789") == "" {
		return "", errors.New("is an address or ends in a number; " + advice)
	}
	if len(name) > Longest {
		return "", errors.New("is longer than 253 characters in its ASCII form")
	}
	return name, nil
}

// Zone brings the name of a zone into canonical form: an RFC 1123 subdomain in lower
// case, without a trailing dot, in ASCII (IDNA 2008). The error names the fault and the
// remedy.
func Zone(text string) (string, error) {
	if text == "." {
		return "", errors.New("is the root; names without a zone of their own go to upstreamResolvers")
	}
	if strings.Contains(text, "*") {
		return "", errors.New("has a \"*\"; a zone holds all names below it: give one such as corp.example")
	}
	name, err := ASCII(strings.TrimSuffix(text, "."))
	if err != nil {
		return "", err
	}
	return checked(name, name, "give a domain such as corp.example, or for addresses one such as 10.in-addr.arpa")
}

// ASCII lowers a name and encodes labels that are not ASCII. Such as are
// encoded already must decode to what they would be encoded from.
func ASCII(name string) (string, error) {
	const longestInput = 4 * Longest
	if len(name) > longestInput {
		return "", errors.New("is longer than 253 characters")
	}
	if !utf8.ValidString(name) {
		return "", errors.New("is not a string in UTF-8")
	}
	ascii := !strings.ContainsFunc(name, func(c rune) bool { return c > unicode.MaxASCII })
	if ascii {
		name = strings.ToLower(name)
		if !strings.HasPrefix(name, "xn--") && !strings.Contains(name, ".xn--") {
			return name, nil
		}
		if slices.ContainsFunc(strings.Split(name, "."), func(label string) bool { return len(label) > longestLabel }) {
			return "", errLongLabel()
		}
	}
	rest, wildcard := strings.CutPrefix(name, "*.")
	encoded, err := idna.Lookup.ToASCII(rest)
	if err != nil {
		return "", errors.New("is not a valid name of IDNA 2008; give it as it is registered, such as www.münchen.example")
	}
	encoded = strings.TrimSuffix(encoded, ".")
	if wildcard {
		encoded = "*." + encoded
	}
	return encoded, nil
}

// CheckLabel says what is wrong with one label of a host name.
func CheckLabel(label string) error {
	switch {
	case label == "":
		return errors.New("has an empty label; give one dot between two labels")
	case strings.Contains(label, "*"):
		return errors.New("has a \"*\" that is not the whole first label; give one such as *.lab.example")
	case len(label) > longestLabel:
		return errLongLabel()
	case !labelPattern.MatchString(label):
		return fmt.Errorf("has a label with other characters than letters, digits and '-', or one that begins or ends with '-': %q; change it", label)
	}
	return nil
}

func errLongLabel() error {
	return errors.New("has a label longer than 63 characters; shorten the part between two dots")
}
