package proof

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
)

// kindOf names the type of a flag's value in external-dns.
func kindOf(value kingpin.Value, isBool bool) string {
	if isBool {
		return "boolean"
	}
	name := fmt.Sprintf("%T", value)
	return strings.ToLower(strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], "Value"))
}

// fitting are the types whose values a row describes.
func fitting(flag externaldns.Flag) []string {
	switch flag.Kind {
	case externaldns.Bool:
		return []string{"boolean"}
	case externaldns.Integer:
		return []string{"int", "int64"}
	case externaldns.Duration:
		return []string{"duration"}
	case externaldns.Regexp:
		return []string{"regexp"}
	case externaldns.Enum:
		return []string{"enum", "accumulator"}
	case externaldns.Pair:
		return []string{"stringmap"}
	default:
		return []string{"string", "accumulator"}
	}
}
