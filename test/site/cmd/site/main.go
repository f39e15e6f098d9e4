// Site writes the documentation as HTML into the directory that it is given.
package main

import (
	"fmt"
	"os"

	"github.com/signpost-dns/signpost/test/site"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: site REPOSITORY DIRECTORY")
		os.Exit(2)
	}
	if err := site.Build(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
