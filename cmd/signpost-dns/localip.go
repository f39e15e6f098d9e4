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
)

// localIP gives the node an address that only its own pods reach, on a dummy
// interface. What is there already stays as it is.
func localIP(args []string, stderr io.Writer) error {
	var device string
	flags := pflag.NewFlagSet("signpost-dns local-ip", pflag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&device, "interface", "signpost-dns", "the `NAME` of the dummy interface")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("local-ip: write the address, as in: signpost-dns local-ip 169.254.20.10")
	}
	address, err := netip.ParseAddr(flags.Arg(0))
	if err != nil || address.Zone() != "" || address.IsUnspecified() || address.IsMulticast() {
		return fmt.Errorf("local-ip: %q is no address that a node can have: write one as in 169.254.20.10 or fd00::10", flags.Arg(0))
	}
	if err := assign(address.Unmap(), device); err != nil {
		return fmt.Errorf("local-ip: %w", explain(err))
	}
	return nil
}

// assign puts an address on a dummy interface of this name.
func assign(address netip.Addr, device string) error {
	link, err := ensureDummy(device)
	if err != nil {
		return err
	}
	if err := isFree(address, link); err != nil {
		return err
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("set interface %s up: %w", device, err)
	}
	network := &netlink.Addr{
		IPNet: &net.IPNet{IP: address.AsSlice(), Mask: net.CIDRMask(address.BitLen(), address.BitLen())},
		Flags: syscall.IFA_F_NODAD, // so that an IPv6 address can be listened on at once
	}
	if err := netlink.AddrReplace(link, network); err != nil {
		return fmt.Errorf("add %s to interface %s: %w", address, device, err)
	}
	return nil
}

// ensureDummy makes the interface unless it is there.
func ensureDummy(name string) (netlink.Link, error) {
	attributes := netlink.NewLinkAttrs()
	attributes.Name = name
	if err := netlink.LinkAdd(&netlink.Dummy{LinkAttrs: attributes}); err != nil && !errors.Is(err, syscall.EEXIST) {
		return nil, fmt.Errorf("add the dummy interface %s: %w", name, err)
	}
	link, err := netlink.LinkByName(name)
	if err != nil {
		return nil, fmt.Errorf("find interface %s: %w", name, err)
	}
	if link.Type() != "dummy" {
		return nil, fmt.Errorf("interface %s is there already and is no dummy, but of the type %s: choose another name with --interface", name, link.Type())
	}
	return link, nil
}

// isFree makes sure that no other interface has the address: then it is
// somebody's, and pods would ask that one.
func isFree(address netip.Addr, own netlink.Link) error {
	all, err := netlink.AddrList(nil, netlink.FAMILY_ALL)
	if err != nil {
		return fmt.Errorf("list the node's addresses: %w", err)
	}
	for _, other := range all {
		if other.IP.Equal(address.AsSlice()) && other.LinkIndex != own.Attrs().Index {
			link, err := netlink.LinkByIndex(other.LinkIndex)
			if err != nil {
				return fmt.Errorf("find the interface of %s: %w", address, err)
			}
			return fmt.Errorf("%s belongs to interface %s already: choose another address", address, link.Attrs().Name)
		}
	}
	return nil
}

// explain says what is missing.
func explain(err error) error {
	switch {
	case errors.Is(err, syscall.EPERM):
		return fmt.Errorf("%w: it needs the capability NET_ADMIN, and the node's network (hostNetwork)", err)
	case errors.Is(err, syscall.EOPNOTSUPP):
		return fmt.Errorf("%w: the node's kernel has no dummy interfaces: load its module dummy", err)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%w: the node may have IPv6 switched off", err)
	}
	return err
}
