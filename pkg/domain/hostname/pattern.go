package hostname

import (
	"errors"
	"strings"
	"unicode"
)

// ASCIIPattern encodes the labels of a pattern that are not ASCII. Such a label is whole: a part of it has another encoding.
func ASCIIPattern(text string) (string, error) {
	labels := strings.Split(text, ".")
	for n, label := range labels {
		if !strings.ContainsFunc(label, func(c rune) bool { return c > unicode.MaxASCII }) {
			continue
		}
		if strings.Contains(label, "*") {
			return "", errors.New("has * in a label with characters beyond ASCII; give the whole label, or * alone")
		}
		encoded, err := ASCII(label)
		if err != nil {
			return "", err
		}
		labels[n] = encoded
	}
	return strings.Join(labels, "."), nil
}

// Pattern splits a host name in which * stands for any text, as Fits takes it.
func Pattern(text string) []string {
	return strings.Split(strings.TrimSuffix(strings.ToLower(text), "."), "*")
}

// Fits reports whether a host name has the texts of a pattern, in their order.
func Fits(host string, pattern []string) bool {
	last := len(pattern) - 1
	if last == 0 {
		return host == pattern[0]
	}
	rest, begins := strings.CutPrefix(host, pattern[0])
	if !begins {
		return false
	}
	for _, text := range pattern[1:last] {
		at := strings.Index(rest, text)
		if at < 0 {
			return false
		}
		rest = rest[at+len(text):]
	}
	return strings.HasSuffix(rest, pattern[last])
}
