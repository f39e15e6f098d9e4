package throttle

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
)

// Connections bounds the connections of a listener, and those of each address
// that have not carried a request of a known subject yet. Beyond that, the oldest
// of these makes room: who asks at once is answered, and who keeps connections
// half-open loses them. Many subjects may come from one address, as through an
// ingress. They are safe for concurrent use. A nil *Connections bounds nothing.
type Connections struct {
	most, each int
	ended      func(reason string)

	mu       sync.Mutex
	open     map[ends]*connection
	strange  list.List      // of *connection without a known subject, the oldest first
	asking   int            // requests at work on strange
	origins  map[string]int // how many of strange each has
	subjects map[string]int // how many connections each is known by
}

// Why a connection is ended.
const (
	full       = "listener" // the listener has as many as it may
	fullOrigin = "address"  // the address has as many as it may without a known subject
	fullAsking = "requests" // those without a known subject have as many requests at work as they may together
)

// Reasons lists why connections are ended.
func Reasons() []string { return []string{full, fullOrigin, fullAsking} }

// ends are the two addresses of a connection, by which it is told from others.
type ends struct{ remote, local string }

// connection tells when it is closed.
type connection struct {
	net.Conn
	of      *Connections
	at      ends
	strange *list.Element // nil once its subject is known
	asking  int           // requests at work, as long as its subject is not known
	subject string
	once    sync.Once
}

// NewConnections allows most connections at once, of which each address has each without
// a known subject. For every connection that is closed, ended is called with one of Reasons.
func NewConnections(most, each int, ended func(reason string)) *Connections {
	return &Connections{
		most: max(most, 1), each: max(each, 1), ended: ended,
		open: map[ends]*connection{}, origins: map[string]int{}, subjects: map[string]int{},
	}
}

// Limit is the listener whose connections these are.
func (c *Connections) Limit(l net.Listener) net.Listener {
	if c == nil {
		return l
	}
	return limited{l, c}
}

// Known tells that the connection with these addresses has carried a request of a
// subject, so that it does not have to make room. That counts for half of the
// connections: nobody keeps them all.
func (c *Connections) Known(remote, local, subject string) {
	const shares = 2
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	one, ok := c.open[ends{remote, local}]
	if !ok || one.strange == nil || c.subjects[subject] >= max(c.most/shares, 1) {
		return
	}
	c.acquaint(one)
	one.subject = subject
	c.subjects[subject]++
}

// Len is how many connections there are.
func (c *Connections) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// add takes in a new connection, and ends another one if there are too many. It is
// nil where there is no room, and none can be made.
func (c *Connections) add(accepted net.Conn) net.Conn {
	one := &connection{Conn: accepted, of: c, at: ends{accepted.RemoteAddr().String(), accepted.LocalAddr().String()}}
	old, reason, ok := c.admit(one)
	if old != nil {
		_ = old.Conn.Close()
	}
	if reason != "" {
		c.ended(reason)
	}
	if !ok {
		_ = accepted.Close()
		return nil
	}
	return one
}

// admit answers which connection has to go for a new one, and why; not ok when the
// new one has to.
func (c *Connections) admit(one *connection) (old *connection, reason string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	origin := Origin(one.at.remote)
	switch {
	case c.origins[origin] >= c.each:
		old, reason = c.oldest(origin), fullOrigin
	case len(c.open) >= c.most:
		old, reason = c.oldest(""), full
		if old == nil {
			return nil, reason, false
		}
	}
	if old != nil {
		c.remove(old)
	}
	one.strange = c.strange.PushBack(one)
	c.origins[origin]++
	c.open[one.at] = one
	return old, reason, true
}

// oldest is the oldest connection without a known subject from an origin, from
// anywhere for an empty one; nil for none.
func (c *Connections) oldest(origin string) *connection {
	for at := c.strange.Front(); at != nil; at = at.Next() {
		if one, _ := at.Value.(*connection); origin == "" || Origin(one.at.remote) == origin {
			return one
		}
	}
	return nil
}

// acquaint takes a connection from those without a known subject.
func (c *Connections) acquaint(one *connection) {
	c.strange.Remove(one.strange)
	one.strange = nil
	c.asking -= one.asking
	decrease(c.origins, Origin(one.at.remote))
}

func (c *Connections) remove(one *connection) {
	if c.open[one.at] != one {
		return
	}
	delete(c.open, one.at)
	if one.strange != nil {
		c.acquaint(one)
		return
	}
	decrease(c.subjects, one.subject)
}

// decrease counts one less of a name, which is forgotten when it has none.
func decrease(counts map[string]int, name string) {
	counts[name]--
	if counts[name] == 0 {
		delete(counts, name)
	}
}

// CloseWrite ends sending, so that a client that is still sending reads the answer. After
// that, the connection ends. Package net/http looks for this method.
func (c *connection) CloseWrite() error {
	if tcp, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return tcp.CloseWrite()
	}
	return nil
}

func (c *connection) Close() error {
	c.once.Do(func() {
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		c.of.remove(c)
	})
	return c.Conn.Close()
}

type limited struct {
	net.Listener
	connections *Connections
}

func (l limited) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if one := l.connections.add(accepted); one != nil {
			return one, nil
		}
	}
}

// Origin is where a request comes from: an IPv4 address, or the /64 of an IPv6
// address, which one host has to itself.
func Origin(remote string) string {
	const ownNetwork = 64
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if address = address.Unmap().WithZone(""); address.Is4() {
		return address.String()
	}
	network, _ := address.Prefix(ownNetwork) // which an IPv6 address has
	return network.String()
}
