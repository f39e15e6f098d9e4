package bench

import (
	"net"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// load is what clients ask a DNS server, each of them one question after the
// other. It costs the clients as little as can be: messages are made before.
type load struct {
	server    string
	questions [][]byte
}

// loadClients ask at the same time.
const loadClients = 16

// packed are questions for A and AAAA of names.
func packed(b *testing.B, names []string) (all [][]byte) {
	b.Helper()
	for _, name := range names {
		for _, kind := range []uint16{dns.TypeA, dns.TypeAAAA} {
			message, err := new(dns.Msg).SetQuestion(dns.Fqdn(name), kind).Pack()
			require.NoError(b, err)
			all = append(all, message)
		}
	}
	return all
}

// run asks so many questions, and tells how long that took.
func (l load) run(b *testing.B, queries int) time.Duration {
	b.Helper()
	var group errgroup.Group
	began := time.Now()
	for client := range loadClients {
		group.Go(func() error { return l.ask(client, queries/loadClients) })
	}
	require.NoError(b, group.Wait())
	return time.Since(began)
}

// ask asks from one socket, each client another share of the questions.
func (l load) ask(client, queries int) error {
	connection, err := net.Dial("udp", l.server)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	if err := connection.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	answer := make([]byte, dns.MinMsgSize)
	for n := range queries {
		if _, err := connection.Write(l.questions[(client*queries+n)%len(l.questions)]); err != nil {
			return err
		}
		if _, err := connection.Read(answer); err != nil {
			return err
		}
	}
	return nil
}
