// Package zone reads DNS zones that exist already: zone files, and transfers from servers.
package zone

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/miekg/dns"

	"github.com/signpost-dns/signpost/pkg/dns/rdata"
)

// MostRecords is how many records of a zone are read.
const MostRecords = 500_000

// A zone file may have MostMiB, which are MostBytes.
const (
	MostMiB   = 256
	MostBytes = MostMiB << 20
)

// ErrTooLarge is the error of a zone that has more than is read of it.
var ErrTooLarge = errors.New("divide it, and import its parts")

// Record is one record of a zone.
type Record struct {
	Name  string // as the zone writes the name, in lower case and without the final dot
	Type  string // as in "MX"
	TTL   int64  // seconds
	Value string // in presentation format; names in it are absolute, and a TXT has its quotes
}

// Size is how many bytes its name and value have.
func (r Record) Size() int { return len(r.Name) + len(r.Value) }

// Zone is the content of a zone.
type Zone struct {
	Name    string // of its SOA, else the origin that was given; lower case, without the final dot
	Records []Record
}

// Parse reads a zone file. The origin is the zone's name, for files that name none by
// $ORIGIN; it may be empty. An error says in which line and column of the file it is.
func Parse(r io.Reader, origin, file string) (Zone, error) {
	if origin != "" {
		if _, right := dns.IsDomainName(origin); !right {
			return Zone{}, fmt.Errorf("%q is not the name of a zone; give one such as shop.example", origin)
		}
		origin = dns.Fqdn(origin)
	}
	limited := &io.LimitedReader{R: r, N: MostBytes + 1}
	parser := dns.NewZoneParser(limited, origin, file)
	parser.SetDefaultTTL(defaultTTL)
	zone := Zone{Name: plain(origin)}
	for {
		rr, more := parser.Next()
		if !more {
			break
		}
		if err := zone.add(rr, MostRecords); err != nil {
			return Zone{}, fmt.Errorf("%s: %w", file, err)
		}
	}
	switch err := parser.Err(); {
	case limited.N <= 0:
		return Zone{}, fmt.Errorf("%s is longer than %d MiB; divide it, and import its parts", file, MostMiB)
	case err != nil:
		return Zone{}, readable(err, origin)
	case len(zone.Records) == 0:
		return Zone{}, fmt.Errorf("%s has no records", file)
	}
	return zone, nil
}

// defaultTTL is that of records in files that say none.
const defaultTTL = 3600

// add adds a record of the zone, which may have so many.
func (z *Zone) add(rr dns.RR, most int) error {
	header := rr.Header()
	if header.Class != dns.ClassINET {
		return fmt.Errorf("%s is of class %s; only zones of class IN are imported", header.Name, dns.Class(header.Class))
	}
	if len(z.Records) == most {
		return fmt.Errorf("the zone has more than %d records; %w", most, ErrTooLarge)
	}
	record := Record{
		Name: plain(header.Name), Type: dns.Type(header.Rrtype).String(), TTL: int64(header.Ttl),
		Value: strings.TrimPrefix(rr.String(), header.String()),
	}
	if record.Type == "SOA" {
		z.Name = record.Name
	}
	z.Records = append(z.Records, record)
	return nil
}

// readable adds what to do to the errors that files of others have most often.
func readable(err error, origin string) error {
	var wrong *dns.ParseError
	if !errors.As(err, &wrong) {
		return err
	}
	text := strings.Replace(wrong.Error(), "dns: ", "", 1)
	switch {
	case strings.Contains(text, "$INCLUDE"):
		return errors.New(text + "; other files are not read: put their content in the place of $INCLUDE")
	case origin == "" && (strings.Contains(text, "bad owner name") || strings.Contains(text, "bad origin name")):
		return errors.New(text + "; a name is relative: give the zone's name by --origin")
	}
	return errors.New(text)
}

// plain is a name in lower case and without its final dot.
func plain(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// Unquote is the text of a TXT record, its strings together.
func Unquote(value string) (string, error) {
	if strings.ContainsAny(value, "\r\n") {
		return "", errors.New("is no TXT record; give its texts in quotes, on one line")
	}
	rr, err := dns.NewRR(". TXT " + value)
	txt, right := rr.(*dns.TXT)
	if err != nil || !right {
		return "", errors.New("is no TXT record; give its texts in quotes")
	}
	return rdata.Text(txt), nil
}

// Quote writes a text as the strings of a TXT record, of which each holds 255 bytes.
func Quote(text string) string {
	const longest = 255
	var parts []string
	for len(text) > longest {
		parts, text = append(parts, quoted(text[:longest])), text[longest:]
	}
	return strings.Join(append(parts, quoted(text)), " ")
}

func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, "\\%03d", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
