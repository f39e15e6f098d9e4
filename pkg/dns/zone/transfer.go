package zone

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Key signs requests for a transfer (TSIG).
type Key struct {
	Name      string // of the key
	Algorithm string // as in "hmac-sha256"
	Secret    string // in base64
}

// Check says what is wrong with a key.
func (k Key) Check() error {
	if _, known := algorithms()[strings.ToLower(k.Algorithm)]; !known {
		return fmt.Errorf("%q is not an algorithm of TSIG; give hmac-sha1, hmac-sha224, hmac-sha256, hmac-sha384 or hmac-sha512", k.Algorithm)
	}
	if _, err := base64.StdEncoding.DecodeString(k.Secret); err != nil || k.Secret == "" {
		return fmt.Errorf("the secret of TSIG key %q is not in base64", k.Name)
	}
	return nil
}

func algorithms() map[string]string {
	return map[string]string{
		"hmac-sha1": dns.HmacSHA1, "hmac-sha224": dns.HmacSHA224, "hmac-sha256": dns.HmacSHA256,
		"hmac-sha384": dns.HmacSHA384, "hmac-sha512": dns.HmacSHA512,
	}
}

// Server transfers zones.
type Server struct {
	Address string                                                               // as in "192.0.2.1:53"
	Dial    func(ctx context.Context, network, address string) (net.Conn, error) // connects to it
	Key     *Key                                                                 // nil: requests are not signed
	Most    int                                                                  // records that are taken of a zone; 0: MostRecords
	Bytes   int                                                                  // that their names and values may have; 0: MostBytes
}

// Transfer gets a zone by AXFR. The transfer ends with ctx.
func (s Server) Transfer(ctx context.Context, name string) (Zone, error) {
	question := new(dns.Msg).SetAxfr(dns.Fqdn(name))
	connection, err := s.Dial(ctx, "tcp", s.Address)
	if err != nil {
		return Zone{}, fmt.Errorf("transfer of %s: %w", name, err)
	}
	defer func() { _ = connection.Close() }() // nothing was written that could be lost
	stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer stop()

	transfer := &dns.Transfer{Conn: &dns.Conn{Conn: connection}, ReadTimeout: silence, WriteTimeout: silence}
	if key := s.Key; key != nil {
		const fudge = 300 // seconds that clocks may differ by
		transfer.TsigSecret = map[string]string{dns.CanonicalName(key.Name): key.Secret}
		question.SetTsig(dns.CanonicalName(key.Name), algorithms()[strings.ToLower(key.Algorithm)], fudge, time.Now().Unix())
	}
	envelopes, err := transfer.In(question, s.Address)
	if err != nil {
		return Zone{}, fmt.Errorf("transfer of %s: %w", name, err)
	}
	zone, err := s.gather(envelopes, name)
	if err != nil {
		_ = connection.Close() // which ends a transfer that goes on
		for range envelopes {
			continue
		}
	}
	switch {
	case ctx.Err() != nil:
		return Zone{}, fmt.Errorf("transfer of %s from %s: %w", name, s.Address, ctx.Err())
	case errors.Is(err, ErrTooLarge) || Interrupted(err):
		return Zone{}, fmt.Errorf("transfer of %s from %s: %w", name, s.Address, err)
	case err != nil:
		return Zone{}, fmt.Errorf("transfer of %s from %s: %w; let the server transfer the zone to this host (allow-transfer in BIND), or give the key that it wants", name, s.Address, err)
	}
	return zone, nil
}

// silence is how long a server may say nothing during a transfer.
const silence = 30 * time.Second

// gather puts a zone together, within the limits of records and bytes.
func (s Server) gather(envelopes <-chan *dns.Envelope, name string) (Zone, error) {
	zone, most := Zone{Name: plain(name)}, cmp.Or(s.Bytes, MostBytes)
	size := 0
	for envelope := range envelopes {
		if envelope.Error != nil {
			return Zone{}, answered(envelope.Error)
		}
		for _, rr := range envelope.RR {
			if _, again := rr.(*dns.SOA); again && len(zone.Records) > 0 {
				continue // a transfer ends with the SOA that it began with
			}
			if err := zone.add(rr, cmp.Or(s.Most, MostRecords)); err != nil {
				return Zone{}, err
			}
			if size += zone.Records[len(zone.Records)-1].Size(); size > most {
				return Zone{}, fmt.Errorf("the zone has more than %d bytes; %w", most, ErrTooLarge)
			}
		}
	}
	if len(zone.Records) == 0 {
		return Zone{}, fmt.Errorf("the server sent no record")
	}
	return zone, nil
}

// code is the code of a server's answer that is no zone.
type code int

func (c code) Error() string { return "the server answers " + dns.RcodeToString[int(c)] }

// answered tells the code of an answer, which the library has in a text alone.
func answered(err error) error {
	var c code
	if _, other := fmt.Sscanf(err.Error(), "dns: bad xfr rcode: %d", &c); other != nil || dns.RcodeToString[int(c)] == "" {
		return err
	}
	return c
}

// Interrupted tells whether a transfer failed by what may pass: the server fails, or the connection ended too early.
func Interrupted(err error) bool {
	if c, is := errors.AsType[code](err); is {
		return c == dns.RcodeServerFailure
	}
	_, connection := errors.AsType[net.Error](err)
	return connection || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
