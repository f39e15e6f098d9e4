package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"syscall"

	"github.com/spf13/pflag"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// loopback is the interface that every node has, with any kernel.
const loopback = "lo"

// localIP gives the node an address that its own pods alone reach. An address
// that is there already stays.
func localIP(args []string, stderr io.Writer) error {
	flags := pflag.NewFlagSet("signpost-dns local-ip", pflag.ContinueOnError)
	flags.SetOutput(stderr)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("local-ip: write one address, as in: signpost-dns local-ip 169.254.20.10")
	}
	address, err := netip.ParseAddr(flags.Arg(0))
	if err != nil || address.Zone() != "" || address.IsUnspecified() || address.IsMulticast() || address.IsLoopback() {
		return fmt.Errorf("local-ip: %q is not an address that pods can reach their node by: write one as in 169.254.20.10 or fd00::10", flags.Arg(0))
	}
	if err := assign(address.Unmap()); err != nil {
		return fmt.Errorf("local-ip: %w", err)
	}
	return nil
}

// assign puts an address on the loopback interface.
func assign(address netip.Addr) error {
	link, err := netlink.LinkByName(loopback)
	if err != nil {
		return fmt.Errorf("find interface %s: %w", loopback, err)
	}
	if err := requireFree(address, link.Attrs().Index); err != nil {
		return err
	}
	err = netlink.AddrReplace(link, &netlink.Addr{
		IPNet: &net.IPNet{IP: address.AsSlice(), Mask: net.CIDRMask(address.BitLen(), address.BitLen())},
		Scope: syscall.RT_SCOPE_HOST, // nothing leaves the node from it
		Flags: unix.IFA_F_NODAD,      // a server can listen there at once, also with IPv6
	})
	switch {
	case errors.Is(err, syscall.EPERM):
		return fmt.Errorf("add %s to interface %s: %w: it needs the capability NET_ADMIN", address, loopback, err)
	case err != nil && address.Is6():
		return fmt.Errorf("add %s to interface %s: %w: is IPv6 switched on for it?", address, loopback, err)
	case err != nil:
		return fmt.Errorf("add %s to interface %s: %w", address, loopback, err)
	}
	return nil
}

// requireFree makes sure that no other interface has the address: then it is
// somebody else's, who would get the pods' queries.
func requireFree(address netip.Addr, own int) error {
	all, err := netlink.AddrList(nil, netlink.FAMILY_ALL)
	if err != nil {
		return fmt.Errorf("list the node's addresses: %w", err)
	}
	for _, other := range all {
		if !other.IP.Equal(address.AsSlice()) || other.LinkIndex == own {
			continue
		}
		link, err := netlink.LinkByIndex(other.LinkIndex)
		if err != nil {
			return fmt.Errorf("find the interface of %s: %w", address, err)
		}
		return fmt.Errorf("%s belongs to interface %s already: choose another address", address, link.Attrs().Name)
	}
	return nil
}
