// Command nameserver is the DNS server of the quickstart. It is CoreDNS with the few plugins
// that the quickstart needs, and an etcd of its own, in one process on loopback.
//
//	nameserver ZONE DIR     answers ZONE from the etcd, and keeps everything in DIR
//
// The file ready in DIR is there once the server answers. It has two words: the address of
// the DNS server, and the URL of the etcd.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	"github.com/miekg/dns"
	"go.etcd.io/etcd/server/v3/embed"

	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/etcd"
	_ "github.com/coredns/coredns/plugin/log"
)

// startAtMost is how long each of the two servers may take to begin.
const startAtMost = 30 * time.Second

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "nameserver:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	const arguments = 2
	if len(args) != arguments {
		return errors.New("give a zone, as in lab.example, and a directory")
	}
	zone, dir := args[0], args[1]
	store, err := startEtcd(filepath.Join(dir, "etcd"))
	if err != nil {
		return err
	}
	defer store.Close()
	endpoint := "http://" + store.Clients[0].Addr().String()
	port, err := freePort()
	if err != nil {
		return err
	}
	corefile := filepath.Join(dir, "Corefile")
	text := fmt.Sprintf("%s:%d {\n  bind 127.0.0.1\n  errors\n  log\n  etcd {\n    path /skydns\n    endpoint %s\n  }\n}\n", zone, port, endpoint)
	if err := os.WriteFile(corefile, []byte(text), 0o600); err != nil {
		return err
	}
	go announce(zone, fmt.Sprintf("127.0.0.1:%d", port), endpoint, filepath.Join(dir, "ready"))
	dnsserver.Quiet = true
	os.Args = []string{os.Args[0], "-conf", corefile}
	coremain.Run() // until the process is interrupted
	return nil
}

// startEtcd starts an etcd on free ports of loopback.
func startEtcd(dir string) (*embed.Etcd, error) {
	config, loopback := embed.NewConfig(), url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config.Dir, config.LogLevel = dir, "error"
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{loopback}, []url.URL{loopback}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{loopback}, []url.URL{loopback}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	store, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	select {
	case <-store.Server.ReadyNotify():
		return store, nil
	case err = <-store.Err():
	case <-time.After(startAtMost):
		err = errors.New("it does not begin")
	}
	store.Close()
	return nil, fmt.Errorf("etcd: %w", err)
}

// freePort is a port that is free for UDP and TCP now.
func freePort() (int, error) {
	for range 20 {
		stream, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		packets, err := new(net.ListenConfig).ListenPacket(context.Background(), "udp", stream.Addr().String())
		if err != nil {
			_ = stream.Close()
			continue
		}
		if address, is := stream.Addr().(*net.TCPAddr); is {
			return address.Port, errors.Join(stream.Close(), packets.Close())
		}
	}
	return 0, errors.New("no port is free for UDP and TCP")
}

// announce writes the file ready once the DNS server answers.
func announce(zone, address, endpoint, ready string) {
	question := new(dns.Msg).SetQuestion(dns.Fqdn(zone), dns.TypeSOA)
	for began := time.Now(); time.Since(began) < startAtMost; time.Sleep(20 * time.Millisecond) {
		if _, err := dns.Exchange(question, address); err != nil {
			continue
		}
		if err := write(ready, address+" "+endpoint+"\n"); err != nil {
			fmt.Fprintln(os.Stderr, "nameserver:", err)
		}
		return
	}
}

// write writes a file as a whole.
func write(file, text string) error {
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
