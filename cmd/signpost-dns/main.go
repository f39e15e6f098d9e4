// Command signpost-dns is CoreDNS with two plugins more, searchpath and
// searchexpand, and three programs that belong to it:
//
//	signpost-dns [flags of CoreDNS]     serves DNS
//	signpost-dns lint                   reads a Corefile from standard input and writes what is wrong with it
//	signpost-dns node-resolver [flags]  keeps a node's hosts file
//	signpost-dns local-ip IP            gives the node an address of its own
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/coredns/caddy"
	_ "github.com/coredns/coredns/core/plugin" // CoreDNS' plugins, in its own order
	"github.com/coredns/coredns/coremain"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/lint"
	"github.com/signpost-dns/signpost/cmd/signpost-dns/searchexpand"
	"github.com/signpost-dns/signpost/cmd/signpost-dns/searchpath"
	"github.com/signpost-dns/signpost/pkg/dns/corefile"
)

func main() {
	if err := errors.Join(searchexpand.Register(), searchpath.Register()); err != nil {
		exit(err)
	}
	caddy.OnProcessExit = append(caddy.OnProcessExit, handOver)
	if len(os.Args) < 2 {
		coremain.Run()
		return
	}
	switch os.Args[1] {
	case "lint":
		exit(lintInput(os.Stdin, os.Stdout))
	case "local-ip":
		exit(localIP(os.Args[2:], os.Stderr))
	case "node-resolver":
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		err := resolveNode(ctx, os.Args[2:], os.Stderr)
		stop()
		exit(err)
	}
	coremain.Run()
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "signpost-dns:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// lintInput answers {"findings":[…]}, also if there are no findings.
func lintInput(in io.Reader, out io.Writer) error {
	text, err := io.ReadAll(io.LimitReader(in, corefile.MaxLinted+1))
	if err != nil {
		return err
	}
	if err := lint.Confine(); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(map[string]any{"findings": lint.Check(string(text))})
}
