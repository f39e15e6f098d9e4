// Command coredns is CoreDNS with the plugins of the tests that answer from
// etcd or forward to another server. It is upstream's program otherwise: CoreDNS
// takes the order of its plugins from its own list, not from these imports.
package main

import (
	"github.com/coredns/coredns/coremain"

	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/etcd"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/log"
	_ "github.com/coredns/coredns/plugin/metrics"
	_ "github.com/coredns/coredns/plugin/whoami"
)

func main() { coremain.Run() }
