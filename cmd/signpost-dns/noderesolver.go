package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/signpost-dns/signpost/pkg/dns/noderesolver"
)

// resolveNode runs the node resolver until ctx ends.
func resolveNode(ctx context.Context, args []string, stderr io.Writer) error {
	resolver := noderesolver.Resolver{Log: slog.New(slog.NewTextHandler(stderr, nil))}
	var services []string
	var nameserver string
	flags := pflag.NewFlagSet("signpost-dns node-resolver", pflag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&resolver.File.Path, "hosts-file", "/etc/hosts", "the `FILE` to keep")
	flags.StringVar(&resolver.File.Journal, "journal", "", "a `FILE` that outlives the container, for a hosts file that is a mount of its own")
	flags.StringVar((*string)(&resolver.Owner), "owner", "", "a `WORD` that tells this node resolver's lines from those of others on the node")
	flags.StringSliceVar(&services, "services", nil, "the `SERVICES` to look up, as namespace/name")
	flags.StringVar(&resolver.Domain, "cluster-domain", "cluster.local", "the `DOMAIN` of the cluster")
	flags.StringVar(&nameserver, "nameserver", "", "the `ADDRESS` of the cluster's DNS, as in 10.96.0.10 or [fd00::a]:53")
	flags.DurationVar(&resolver.Interval, "interval", noderesolver.DefaultInterval, "how often to look the services up")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return err
	}
	var err error
	if resolver.Nameserver, err = parseNameserver(nameserver); err != nil {
		return err
	}
	if strings.ContainsFunc(string(resolver.Owner), unicode.IsSpace) {
		return errors.New("--owner: must be one word")
	}
	if len(services) == 0 {
		return errors.New("--services: name one at least")
	}
	for _, text := range services {
		service, err := noderesolver.ParseService(text)
		if err != nil {
			return fmt.Errorf("--services: %w", err)
		}
		resolver.Services = append(resolver.Services, service)
	}
	if resolver.Interval <= 0 {
		return errors.New("--interval: must be longer than nothing")
	}
	return resolver.Run(ctx)
}

// parseNameserver reads an IP address, with or without a port.
func parseNameserver(text string) (netip.AddrPort, error) {
	const dnsPort = 53
	if address, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return netip.AddrPortFrom(address, dnsPort), nil
	}
	address, err := netip.ParseAddrPort(text)
	if err != nil || address.Port() == 0 {
		return netip.AddrPort{}, fmt.Errorf("--nameserver: %q is not an address: write IP or IP:port", text)
	}
	return address, nil
}
