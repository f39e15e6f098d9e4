package externaldns

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"
	"unicode"
	"unicode/utf8"
)

func isDigit(r rune) bool       { return r >= '0' && r <= '9' }
func isASCIILetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
func isASCII(r rune) bool       { return r < utf8.RuneSelf }

// readDuration accepts Go durations from the row's shortest on.
func (f Flag) readDuration(text string) verdict {
	duration, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return wrong(`%s is not a duration; write a number with a unit, such as "30s" or "5m"`, clip(text))
	case duration < f.Shortest:
		return wrong("%s is too short; the shortest is %s", duration, f.Shortest)
	default:
		return right(duration.String())
	}
}

// readHost accepts an IP address, with or without brackets, or a host name.
func readHost(text string) verdict {
	if address, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil && address.Zone() == "" {
		return right(address.String())
	}
	if _, _, err := net.SplitHostPort(text); err == nil {
		return wrong("%s has a port; write the host alone, and the port into rfc2136-port", clip(text))
	}
	name := strings.ToLower(strings.TrimSuffix(text, "."))
	last := name[strings.LastIndexByte(name, '.')+1:]
	if !isName(name, "-_") || strings.ContainsFunc(name, func(r rune) bool { return !isASCII(r) }) ||
		!strings.ContainsFunc(last, isASCIILetter) {
		return wrong("%s is neither a host name nor an IP address", clip(text))
	}
	return right(name)
}

// readZone accepts a DNS zone. External-dns compares it with the end of the
// ASCII name, so a final dot or upper case would match nothing.
func readZone(text string) verdict {
	if text == "." {
		return right(text)
	}
	name := strings.ToLower(strings.TrimSuffix(text, "."))
	switch {
	case strings.ContainsFunc(name, func(r rune) bool { return !isASCII(r) }):
		return wrong(`%s is not in ASCII; write the form that begins with "xn--"`, clip(text))
	case hasLongLabel(name):
		return wrong("%s %s", clip(text), longLabel)
	case !isName(name, "-_/"):
		return wrong(`%s is not a zone; write one name such as "corp.example" for each`, clip(text))
	default:
		return right(name)
	}
}

// readDomain accepts a domain suffix, with a leading dot for subdomains alone.
func readDomain(text string) verdict {
	name := strings.ToLower(strings.TrimSuffix(text, "."))
	switch bare := strings.TrimPrefix(name, "."); {
	case strings.HasPrefix(name, "*"):
		return wrong("%s: a wildcard matches nothing here; write %s for the subdomains alone", clip(text), clip(strings.TrimLeft(name, "*")))
	case strings.Contains(name, ","):
		return wrong("%s: commas do not separate domains; write a list", clip(text))
	case hasLongLabel(bare):
		return wrong("%s %s", clip(text), longLabel)
	case !isName(bare, "-_/"):
		return wrong(`%s is not a domain; write a name such as "lab.example", or ".lab.example" for its subdomains alone`, clip(text))
	default:
		return right(name)
	}
}

// longLabel is what is wrong with a name that hasLongLabel.
const longLabel = "has a label longer than 63 characters, which DNS does not allow; shorten what is between two dots"

// hasLongLabel reports whether one of the labels of a name is longer than DNS allows.
func hasLongLabel(name string) bool {
	const longest = 63
	return slices.ContainsFunc(strings.Split(name, "."), func(label string) bool { return len(label) > longest })
}

// isName checks the labels of a name. Letters and digits of any script and the bytes in
// extra are allowed. No label begins or ends with a hyphen.
func isName(name, extra string) bool {
	const longestName, longestLabel = 253, 63
	if name == "" || len(name) > longestName {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > longestLabel || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") {
			return false
		}
		for _, r := range label {
			if !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Nd) && !strings.ContainsRune(extra, r) {
				return false
			}
		}
	}
	return true
}

// The bounds of a regular expression. Matching takes as long as the name times
// the steps; text alone does not bound them, for `.{0,600}` has 1,202.
const (
	longestRegexp  = 1000 // characters
	longestProgram = 1200 // steps that it is compiled to
)

func readRegexp(text string) verdict {
	if utf8.RuneCountInString(text) > longestRegexp {
		return wrong("is a regular expression of more than %d characters; give a shorter one, or a list of domains as domain-filter", longestRegexp)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return wrong("is not a regular expression: %s", err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	switch {
	case err != nil:
		return wrong("is not a regular expression: %s", err)
	case len(program.Inst) > longestProgram:
		return wrong("is a regular expression that repeats too much, as .{0,1000} does; repeat less, or use * and +")
	}
	return right(text)
}

// readTemplate parses a template with the names of external-dns' own functions.
func readTemplate(text string) verdict {
	stub := func(...any) string { return "" }
	functions := template.FuncMap{}
	for _, name := range []string{
		"contains", "trimPrefix", "trimSuffix", "trim", "toLower", "replace",
		"isIPv4", "isIPv6", "isSource", "hasKey", "fromJson",
	} {
		functions[name] = stub
	}
	if _, err := template.New("template").Funcs(functions).Parse(text); err != nil {
		return wrong("is not a template of Go's text/template: %s", err)
	}
	return right(text)
}

// readNetwork accepts a prefix, and an address as the prefix of itself.
func readNetwork(text string) verdict {
	if prefix, err := netip.ParsePrefix(text); err == nil {
		return right(prefix.Masked().String())
	}
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		return right(netip.PrefixFrom(address, address.BitLen()).String())
	}
	return wrong(`%s is not a network; write it as "203.0.113.0/24"`, clip(text))
}

// readAddress accepts [host]:port. Probes and metrics are asked at the pod's
// address, which nobody knows beforehand: external-dns listens on all of them.
func readAddress(text string) verdict {
	host, portText, err := net.SplitHostPort(text)
	port, portErr := strconv.ParseUint(portText, 10, 16)
	if err != nil || portErr != nil || port == 0 {
		return wrong(`%s is not an address to listen at; write it as ":7979"`, clip(text))
	}
	result := right(fmt.Sprintf(":%d", port))
	if host != "" && host != "0.0.0.0" && host != "::" {
		result.note = fmt.Sprintf("probes reach the pod's address alone: the host is left out, and external-dns listens at %s", result.text)
	}
	return result
}

// readKeyPrefix makes the prefix begin and end with a slash. Without them names
// would be written under keys that CoreDNS never reads.
func readKeyPrefix(text string) verdict {
	clean := path.Clean("/" + text)
	if clean != "/" {
		clean += "/"
	}
	result := right(clean)
	if clean != text {
		result.note = fmt.Sprintf("becomes %s: the keys need a slash on both sides", clip(clean))
	}
	return result
}

// readAffix keeps what can be part of a name. The ownership records of other
// text could not be written, and without it they can.
func readAffix(text string) verdict {
	plain := strings.ReplaceAll(strings.ToLower(text), "%{record_type}", "a")
	if strings.ContainsFunc(plain, func(r rune) bool {
		return !isASCIILetter(r) && !isDigit(r) && !strings.ContainsRune("-_.", r)
	}) {
		return verdict{note: clip(text) + " cannot be part of a DNS name (letters, digits, - _ . and %{record_type} can); it is left out"}
	}
	return right(strings.ToLower(text))
}

// readOwner refuses what would break the text of an ownership record.
func readOwner(text string) verdict {
	if strings.ContainsFunc(text, func(r rune) bool {
		return !isASCIILetter(r) && !isDigit(r) && !strings.ContainsRune("-_.:/@+", r)
	}) {
		return wrong("%s is not an owner id; use letters, digits and - _ . : / @ +", clip(text))
	}
	return right(text)
}

// tsigAlgorithms are those that external-dns implements.
func tsigAlgorithms() []string {
	return []string{"hmac-sha1", "hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512"}
}

func readAlgorithm(text string) verdict {
	name := strings.ToLower(strings.TrimSuffix(text, "."))
	result := right(name)
	if !slices.Contains(tsigAlgorithms(), name) {
		result.stuck = fmt.Sprintf("external-dns has no TSIG algorithm %s; it has %s", clip(text), strings.Join(tsigAlgorithms(), ", "))
	}
	return result
}

// readURL accepts the address of an HTTP server. A password in it would be seen
// by everybody who reads the command line.
func readURL(text string) verdict {
	address, err := url.Parse(text)
	switch {
	case err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Hostname() == "":
		return wrong(`is not a URL of a server; write it as "https://pdns.corp.example:8081"`)
	case address.User != nil:
		return wrong("holds a user or a password, which everybody could read; leave it out")
	default:
		return right(text)
	}
}

func readPair(text string) verdict {
	if key, _, ok := strings.Cut(text, "="); !ok || strings.TrimSpace(key) == "" {
		return wrong(`%s is not a tag; write it as "key=value"`, clip(text))
	}
	return right(text)
}
