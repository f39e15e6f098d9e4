// Package rdata reads what DNS records say, in the form in which names give it.
package rdata

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// Value is what a record says, as a name gives it. Host names are as [Host] answers them,
// the value of a CAA record has quotes, and the text of a TXT record has none. It is empty
// for types that names do not have.
func Value(record dns.RR) string {
	switch r := record.(type) {
	case *dns.A:
		return address(r.A)
	case *dns.AAAA:
		return address(r.AAAA)
	case *dns.CNAME:
		return Host(r.Target)
	case *dns.NS:
		return Host(r.Ns)
	case *dns.PTR:
		return Host(r.Ptr)
	case *dns.MX:
		return fmt.Sprintf("%d %s", r.Preference, Host(r.Mx))
	case *dns.SRV:
		return fmt.Sprintf("%d %d %d %s", r.Priority, r.Weight, r.Port, Host(r.Target))
	case *dns.CAA:
		return fmt.Sprintf("%d %s ", r.Flag, strings.ToLower(r.Tag)) + `"` + r.Value + `"` // as in zone files: no escapes of Go
	case *dns.TXT:
		return Text(r)
	}
	return ""
}

// Host is a host name in lower case, without its final dot.
func Host(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }

func address(ip net.IP) string {
	if a, ok := netip.AddrFromSlice(ip); ok {
		return a.Unmap().String()
	}
	return ""
}

// Text is the text of a TXT record, its strings together. The DNS library keeps them with
// the escapes of zone files (RFC 1035, section 5.1): \" and \\, and \ddd for a byte.
func Text(record *dns.TXT) string {
	var text strings.Builder
	for _, part := range record.Txt {
		for part != "" {
			n := 1
			b := part[0]
			if b == '\\' {
				b, n = escaped(part)
			}
			text.WriteByte(b)
			part = part[n:]
		}
	}
	return text.String()
}

// escaped is the byte that an escape at the beginning of a text stands for, and how long
// the escape is.
func escaped(text string) (byte, int) {
	const longest = len(`\ddd`)
	if len(text) >= longest {
		if code, err := strconv.ParseUint(text[1:longest], 10, 8); err == nil {
			return byte(code), longest
		}
	}
	if len(text) > 1 {
		return text[1], 2
	}
	return text[0], 1
}
