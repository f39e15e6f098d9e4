package mongo

import (
	"net"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// unusable says why a connection string is refused. The driver quotes text that it cannot
// read, which may be a part of a password. So the driver is asked again without user and
// password, and if it finds no fault then, these are the fault.
func unusable(uri string) error {
	refusal := &intent.Error{Code: intent.Invalid, Detail: "the MongoDB connection string is not usable"}
	if refusal.Err = options.Client().ApplyURI(masked(uri)).Validate(); refusal.Err == nil {
		refusal.Detail += ": its user, its password or an option with a password; in them, write / : @ ? # [ ] and % as %2F %3A %40 %3F %23 %5B %5D and %25"
	}
	return refusal
}

// Addresses are the servers (HOST:PORT) that a connection string leads to, none if it
// cannot be read.
func Addresses(uri string) []string {
	const usual = "27017"
	var out []string
	for _, host := range options.Client().ApplyURI(uri).Hosts {
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), usual)
		}
		out = append(out, host)
	}
	return out
}

// masked is a connection string with other words for its user and its password,
// and without the options that hold a secret.
func masked(uri string) string {
	scheme, rest, _ := strings.Cut(uri, "://")
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		words := "user"
		if strings.Contains(rest[:at], ":") {
			words = "user:password"
		}
		rest = words + rest[at:]
	}
	address, query, _ := strings.Cut(rest, "?")
	shown := slices.DeleteFunc(strings.FieldsFunc(query, func(c rune) bool { return c == '&' || c == ';' }), secret)
	if len(shown) > 0 {
		address += "?" + strings.Join(shown, "&")
	}
	return scheme + "://" + address
}

// secret tells whether an option may hold a secret.
func secret(option string) bool {
	name, _, _ := strings.Cut(strings.ToLower(option), "=")
	return strings.Contains(name, "password") || name == "authmechanismproperties"
}
