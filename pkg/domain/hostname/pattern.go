package hostname

import "strings"

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
