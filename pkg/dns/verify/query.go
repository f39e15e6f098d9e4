package verify

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// queryTimeout is how long a server may take to answer a person's question.
const queryTimeout = 5 * time.Second

// Lookup is the answer of one server to a person's question.
type Lookup struct {
	Server  string   // address and port
	Code    string   // as in NOERROR or NXDOMAIN
	Records []string // in the form of zone files
}

// Query asks a server for the records of a name, as a stub resolver does. An invalid
// server stands for the first of /etc/resolv.conf.
func Query(ctx context.Context, server netip.AddrPort, name, kind string) (Lookup, error) {
	code, known := dns.StringToType[strings.ToUpper(kind)]
	if !known {
		return Lookup{}, fmt.Errorf("%q is no type of DNS records; give one such as A, AAAA or TXT", kind)
	}
	if !server.IsValid() {
		servers := systemResolvers()
		if len(servers) == 0 {
			return Lookup{}, errors.New("/etc/resolv.conf names no nameserver; give one with --at")
		}
		server = servers[0]
	}
	c := &client{timeout: queryTimeout}
	m := new(dns.Msg).SetQuestion(dns.Fqdn(name), code)
	answer, err := c.send(ctx, &net.Dialer{}, server, m)
	if err != nil {
		return Lookup{}, fmt.Errorf("%s: %w", server, err)
	}
	found := Lookup{Server: server.String(), Code: dns.RcodeToString[answer.Rcode]}
	for _, record := range answer.Answer {
		found.Records = append(found.Records, strings.ReplaceAll(record.String(), "\t", " "))
	}
	return found, nil
}
