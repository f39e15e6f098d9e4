// Command signpost is the service and its command-line client in one binary:
// `signpost serve` runs the service, every other command talks to one.
package main

import (
	"os"

	"github.com/signpost-dns/signpost/pkg/cli"
)

func main() { os.Exit(cli.Main()) }
