package inspect

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
)

const queryHelp = `Asks a nameserver for the records of a name, and prints them in the form of zone files. It needs no
Signpost server. Without --at it asks the first nameserver of /etc/resolv.conf. The exit code is 1 if
there are no records.`

// QueryCommand makes `signpost query`.
func QueryCommand(p terminal.Program) *cobra.Command {
	var at string
	cmd := &cobra.Command{
		Use:     "query NAME [TYPE]",
		Short:   "Ask a nameserver for the records of a name",
		Long:    queryHelp,
		Example: "  signpost query www.lab.example --at 127.0.0.1:5353\n  signpost query www.lab.example AAAA",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return terminal.Usagef("takes a name and optionally a type, not %s", terminal.Count(len(args), "argument"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			kind := "A"
			if len(args) > 1 {
				kind = strings.ToUpper(args[1])
			}
			server, err := nameserver(at)
			if err != nil {
				return err
			}
			name := args[0]
			if canonical, err := hostname.CanonicalUnderscored(name); err == nil {
				name = canonical // of an international name
			}
			found, err := verify.Query(cmd.Context(), server, name, kind)
			if err != nil {
				return err
			}
			if len(found.Records) == 0 {
				return fmt.Errorf("%s %s: %s answers %s without records", args[0], kind, found.Server, found.Code)
			}
			for _, record := range found.Records {
				terminal.Printf(p.Out, "%s\n", terminal.Visible(record))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&at, "at", "", "the `ADDRESS[:PORT]` of the nameserver, as in 127.0.0.1:5353 (default the first of /etc/resolv.conf)")
	return cmd
}

// nameserver reads an address with or without a port; empty: an invalid one.
func nameserver(text string) (netip.AddrPort, error) {
	const usual = 53
	if text == "" {
		return netip.AddrPort{}, nil
	}
	if host, port, _ := strings.Cut(text, ":"); host == "localhost" {
		text = net.JoinHostPort("127.0.0.1", cmp.Or(port, strconv.Itoa(usual)))
	}
	if address, err := netip.ParseAddr(text); err == nil {
		return netip.AddrPortFrom(address, usual), nil
	}
	server, err := netip.ParseAddrPort(text)
	if err != nil {
		return server, terminal.Usagef("--at: %q is not an address; give one such as 127.0.0.1:5353 or [::1]:53", text)
	}
	return server, nil
}
