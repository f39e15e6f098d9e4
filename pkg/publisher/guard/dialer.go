package guard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

// dialTimeout is how long one connection may take to be made.
const dialTimeout = 3 * time.Second

// Dialer connects to servers that Rules allow. It is safe for concurrent use.
type Dialer struct {
	// Rules are the administrator's, given by Flag.
	Rules Rules
	Flag  string

	// Stores are the addresses (HOST:PORT) of Signpost's own stores. No Rule allows them.
	Stores []string

	// Lookup resolves a host name; nil: the resolver of the machine.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)

	// Local lists the addresses of the machine; nil: those of its interfaces.
	Local func() []netip.Addr
}

// Dial connects to an address of a server. The scope is the zone, or the prefix of keys,
// that the connection is for. Dial resolves the name once, and connects to the address
// that it has judged. Each Dial judges anew, those that follow a redirect too.
func (d *Dialer) Dial(ctx context.Context, network, address, scope string) (net.Conn, error) {
	allowed, err := d.judge(ctx, address, scope)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	var failed error
	for _, t := range allowed {
		conn, err := dialer.DialContext(ctx, network, net.JoinHostPort(t.address.String(), strconv.Itoa(int(t.port))))
		if err == nil {
			return conn, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, failed
}

// Check tells why an address may not be dialled, without a connection. A host name whose addresses are not known
// passes: Dial judges it again.
func (d *Dialer) Check(ctx context.Context, address, scope string) error {
	_, err := d.judge(ctx, address, scope)
	if fault.Of(err) == fault.Unreachable {
		return nil
	}
	return err
}

// judge resolves an address and keeps the targets that may be dialled. It fails if
// there are none.
func (d *Dialer) judge(ctx context.Context, address, scope string) ([]target, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fault.Errorf(publisher.Invalid, "%q is not HOST:PORT", address)
	}
	port, err := parsePort(text)
	if err != nil {
		return nil, fault.Errorf(publisher.Invalid, "%q: %v", address, err)
	}
	addresses, err := d.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	var allowed []target
	var refused error
	for _, a := range addresses {
		t := target{host: canonicalHost(host), address: a.Unmap().WithZone(""), port: port, scope: canonicalScope(scope)}
		if literal, err := netip.ParseAddr(host); err == nil {
			t.host = literal.Unmap().String()
		}
		if err := d.mayDial(ctx, t); err != nil {
			refused = errors.Join(refused, err)
			continue
		}
		allowed = append(allowed, t)
	}
	if len(allowed) == 0 && refused != nil {
		return nil, refused
	}
	if len(allowed) == 0 {
		return nil, fault.Errorf(fault.Unreachable, "%s has no address", host)
	}
	return allowed, nil
}

func (d *Dialer) mayDial(ctx context.Context, t target) error {
	is, err := d.isStore(ctx, t)
	if err != nil {
		return err
	}
	if is {
		return fault.Errorf(publisher.Forbidden, "%s is a store of Signpost itself, which no rule of %s allows", t, d.Flag)
	}
	return d.Rules.judge(t, d.Flag)
}

// resolve gives the addresses of a host.
func (d *Dialer) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if literal, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{literal}, nil
	}
	lookup := d.Lookup
	if lookup == nil {
		lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	addresses, err := lookup(ctx, host)
	if err != nil {
		return nil, fault.Errorf(fault.Unreachable, "the address of server %s is not known: %v", host, err)
	}
	return addresses, nil
}

// isStore tells whether a target is one of Signpost's own stores. A store of this machine is
// reached by each of the machine's addresses. If nobody knows where a store with the
// target's port is, isStore fails.
func (d *Dialer) isStore(ctx context.Context, t target) (bool, error) {
	for _, store := range d.Stores {
		host, text, err := net.SplitHostPort(store)
		port, bad := parsePort(text)
		if err != nil || bad != nil || port != t.port {
			continue
		}
		if canonicalHost(host) == t.host {
			return true, nil
		}
		addresses, err := d.storeAddresses(ctx, host)
		if err != nil {
			return false, fault.Errorf(fault.Unreachable, "%s may be a store of Signpost itself: %v", t, err)
		}
		for _, a := range addresses {
			if a.Unmap() == t.address || d.isLocal(a.Unmap()) && d.isLocal(t.address) {
				return true, nil
			}
		}
	}
	return false, nil
}

// storeAddresses are the addresses of a store; an empty host is all of the machine's.
func (d *Dialer) storeAddresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if host == "" {
		return []netip.Addr{netip.IPv4Unspecified()}, nil
	}
	return d.resolve(ctx, host)
}

// isLocal tells whether an address is one of the machine's own.
func (d *Dialer) isLocal(address netip.Addr) bool {
	if address.IsLoopback() || address.IsUnspecified() {
		return true
	}
	local := d.Local
	if local == nil {
		local = ofInterfaces
	}
	return slices.ContainsFunc(local(), func(a netip.Addr) bool { return a.Unmap() == address })
}

func ofInterfaces() []netip.Addr {
	found, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var addresses []netip.Addr
	for _, a := range found {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			addresses = append(addresses, prefix.Addr())
		}
	}
	return addresses
}
