package autopath

import (
	"errors"
	"strings"
)

// Limits of an option: those that Kubernetes sets to a pod's search paths.
const (
	MaxPaths = 32
	MaxBytes = 2048 // of the whole value

	maxDomain = 253 // bytes of a domain name
	maxLabel  = 63
)

// Why a value is no option.
var (
	ErrTooLong  = errors.New("the option is too long")
	errNoList   = errors.New("the option is not a comma-separated list of domains")
	ErrBadLabel = errors.New("a domain of the option has a label that no name can have")
	ErrLoop     = errors.New("a search path leads to search paths again, or is there twice")
)

// Encode writes search paths as the value of the option: a comma-separated
// string.
func Encode(paths []string) []byte { return []byte(strings.Join(paths, ",")) }

// Decode reads the value of an option that anybody may have sent, into paths in
// canonical form, one at least. The error is one of those above.
func Decode(value []byte) ([]string, error) {
	if len(value) > MaxBytes {
		return nil, ErrTooLong
	}
	paths := strings.Split(strings.ToLower(string(value)), ",")
	if len(paths) > MaxPaths {
		return nil, ErrTooLong
	}
	seen := make(map[string]bool, len(paths))
	for i, path := range paths {
		path = strings.TrimSuffix(path, ".")
		if err := check(path); err != nil {
			return nil, err
		}
		if seen[path] || path == Zone || strings.HasSuffix(path, "."+Zone) {
			return nil, ErrLoop
		}
		paths[i], seen[path] = path, true
	}
	return paths, nil
}

// check judges one domain. Kubernetes takes underscores in search paths.
func check(domain string) error {
	if domain == "" {
		return errNoList
	}
	if len(domain) > maxDomain {
		return ErrTooLong
	}
	for label := range strings.SplitSeq(domain, ".") {
		if label == "" || len(label) > maxLabel {
			return ErrBadLabel
		}
		for _, r := range []byte(label) {
			if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' {
				return errNoList
			}
		}
	}
	return nil
}
