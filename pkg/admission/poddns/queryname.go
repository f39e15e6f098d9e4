package poddns

import (
	"errors"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/hostname"
)

// QueryName brings a name for a resolver into canonical form: lower case, without a
// trailing dot, in ASCII (IDNA 2008); "." for the root. Labels may begin with "_", and
// any may be "*". The error names the fault and the remedy.
func QueryName(text string) (string, error) {
	if text == "." {
		return text, nil
	}
	name, err := hostname.ASCII(strings.TrimSuffix(text, "."))
	if err != nil {
		return "", err
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "*" {
			continue
		}
		if err := hostname.CheckLabel(strings.ReplaceAll(label, "_", "x")); err != nil {
			return "", err
		}
	}
	if len(name) > hostname.Longest {
		return "", errors.New("is longer than 253 characters in its ASCII form")
	}
	return name, nil
}
