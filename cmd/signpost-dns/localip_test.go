package main

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"

	"github.com/signpost-dns/signpost/internal/need"
)

// inNetwork says that this test binary runs in a network namespace of its own.
const inNetwork = "SIGNPOST_DNS_TEST_NETWORK"

// withNetwork runs a test in a network namespace that it may change.
func withNetwork(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	if os.Getenv(inNetwork) != "" {
		test(t)
		return
	}
	need.Namespaces(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), inNetwork+"=1")
	cmd.SysProcAttr = asRootOf(syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET)
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Contains(t, string(output), "--- PASS: "+t.Name())
}

func asRootOf(namespaces uintptr) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  namespaces,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
}

// giveLocalIP runs the subcommand and answers what it wrote.
func giveLocalIP(t *testing.T, args ...string) (string, error) {
	t.Helper()
	output, err := program(t.Context(), append([]string{"local-ip"}, args...)...).CombinedOutput()
	return string(output), err
}

// addresses are those of the loopback interface beside the ones that Linux gives
// it.
func addresses(t *testing.T) []string {
	t.Helper()
	link, err := netlink.LinkByName(loopback)
	require.NoError(t, err)
	all, err := netlink.AddrList(link, netlink.FAMILY_ALL)
	require.NoError(t, err)
	var texts []string
	for _, address := range all {
		if !address.IP.IsLoopback() {
			texts = append(texts, address.IPNet.String())
		}
	}
	return texts
}

// linkUp makes an interface work, and the loopback interface as it is on every
// node.
func linkUp(t *testing.T, name string) netlink.Link {
	t.Helper()
	link, err := netlink.LinkByName(name)
	require.NoError(t, err)
	require.NoError(t, netlink.LinkSetUp(link))
	return link
}

func TestLocalIPGivesTheNodeAnAddress(t *testing.T) {
	withNetwork(t, func(t *testing.T) {
		linkUp(t, loopback)
		for range 2 { // what is there stays
			output, err := giveLocalIP(t, "169.254.20.10")
			require.NoError(t, err, output)
			require.Empty(t, output)
			require.Equal(t, []string{"169.254.20.10/32"}, addresses(t))
		}
		output, err := giveLocalIP(t, "fd00::10")
		require.NoError(t, err, output)
		require.Equal(t, []string{"169.254.20.10/32", "fd00::10/128"}, addresses(t))
		for _, address := range []string{"169.254.20.10:53", "[fd00::10]:53"} {
			packets, err := net.ListenPacket("udp", address)
			require.NoError(t, err, "a server listens there at once")
			require.NoError(t, packets.Close())
		}
	})
}

// A pod, behind its own interface, reaches the address: it is local to the node,
// not to the loopback interface.
func TestLocalIPIsReachedFromPods(t *testing.T) {
	withNetwork(t, func(t *testing.T) {
		linkUp(t, loopback)
		output, err := giveLocalIP(t, "169.254.20.10")
		require.NoError(t, err, output)
		packets, err := net.ListenPacket("udp", "169.254.20.10:53")
		require.NoError(t, err)
		defer packets.Close()
		go answerAll(packets)
		pod := exec.CommandContext(t.Context(), os.Args[0])
		pod.Env = []string{asPod + "=1"}
		pod.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		var said strings.Builder
		pod.Stdout, pod.Stderr = &said, &said
		unconnected, err := pod.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, pod.Start())
		connect(t, pod.Process.Pid)
		require.NoError(t, unconnected.Close())
		require.NoError(t, pod.Wait(), &said)
	})
}

func answerAll(packets net.PacketConn) {
	for {
		buffer := make([]byte, 512)
		n, from, err := packets.ReadFrom(buffer)
		if err != nil {
			return
		}
		_, _ = packets.WriteTo(buffer[:n], from)
	}
}

// connect gives a pod an interface, as a CNI plugin does.
func connect(t *testing.T, pod int) {
	t.Helper()
	require.NoError(t, netlink.LinkAdd(&netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: "node"}, PeerName: "pod", PeerNamespace: netlink.NsPid(pod),
	}))
	node := linkUp(t, "node")
	require.NoError(t, netlink.AddrAdd(node, &netlink.Addr{IPNet: network("10.244.0.1/24")}))
}

func network(text string) *net.IPNet {
	ip, network, _ := net.ParseCIDR(text)
	network.IP = ip
	return network
}

// asPod makes this test binary a pod of TestLocalIPIsReachedFromPods.
const asPod = "SIGNPOST_DNS_TEST_POD"

// askLocalIP is what that pod does, once it has its interface, as the end of its
// input tells.
func askLocalIP() error {
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	link, err := netlink.LinkByName("pod")
	if err != nil {
		return err
	}
	route := &netlink.Route{LinkIndex: link.Attrs().Index, Gw: net.ParseIP("10.244.0.1")}
	err = errors.Join(
		netlink.LinkSetUp(link),
		netlink.AddrAdd(link, &netlink.Addr{IPNet: network("10.244.0.2/24")}),
		netlink.RouteAdd(route),
	)
	if err != nil {
		return err
	}
	conn, err := net.Dial("udp", "169.254.20.10:53")
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := conn.Write([]byte("asked")); err != nil {
		return err
	}
	_, err = conn.Read(make([]byte, 5))
	return err
}

// Several init containers may begin at once.
func TestLocalIPAtOnce(t *testing.T) {
	withNetwork(t, func(t *testing.T) {
		const many = 4
		outputs := make(chan string, many)
		for range many {
			go func() {
				output, err := giveLocalIP(t, "169.254.20.10")
				if err != nil {
					output += err.Error()
				}
				outputs <- output
			}()
		}
		for range many {
			require.Empty(t, <-outputs)
		}
		require.Equal(t, []string{"169.254.20.10/32"}, addresses(t))
	})
}

func TestLocalIPTakesNothingFromOthers(t *testing.T) {
	withNetwork(t, func(t *testing.T) {
		bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "nodelocaldns"}}
		require.NoError(t, netlink.LinkAdd(bridge))
		require.NoError(t, netlink.AddrAdd(bridge, &netlink.Addr{IPNet: network("169.254.20.10/32")}))
		output, err := giveLocalIP(t, "169.254.20.10")
		require.Error(t, err)
		require.Contains(t, output, "169.254.20.10 belongs to interface nodelocaldns already")
		require.Empty(t, addresses(t))
	})
}

func TestLocalIPSaysWhatIsMissing(t *testing.T) {
	need.Namespaces(t)
	cmd := program(t.Context(), "local-ip", "169.254.20.10")
	cmd.SysProcAttr = asRootOf(syscall.CLONE_NEWUSER) // which may do nothing to the network that is there
	output, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(output), "local-ip: add 169.254.20.10 to interface lo")
	require.Contains(t, string(output), "NET_ADMIN")

	for reason, c := range map[string]struct {
		args []string
		want string
	}{
		"no address":           {nil, "write one address, as in"},
		"two addresses":        {[]string{"10.0.0.1", "10.0.0.2"}, "write one address, as in"},
		"no IP":                {[]string{"dns.example"}, `"dns.example" is not an address`},
		"an address of a link": {[]string{"fe80::1%eth0"}, "is not an address that pods can reach"},
		"all addresses":        {[]string{"0.0.0.0"}, "is not an address that pods can reach"},
		"many nodes":           {[]string{"224.0.0.1"}, "is not an address that pods can reach"},
		"a pod's own":          {[]string{"127.0.0.1"}, "is not an address that pods can reach"},
		"an unknown flag":      {[]string{"10.0.0.1", "--nic=a"}, "unknown flag"},
	} {
		output, err := giveLocalIP(t, c.args...)
		require.Error(t, err, reason)
		require.Contains(t, output, c.want, reason)
	}
}
