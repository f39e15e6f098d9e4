package verify

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLocal(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1": true, "127.8.8.8": true, "0.0.0.0": true, "0.0.0.1": true, "0.255.255.255": true, "169.254.169.254": true, "224.0.0.1": true,
		"::1": true, "::": true, "fe80::1": true, "ff02::1": true, "::ffff:127.0.0.1": true, "::ffff:0.1.2.3": true,
		"64:ff9b::127.0.0.1": true, "64:ff9b::a9fe:a9fe": true, "64:ff9b:1::7f00:1": true, "64:ff9b::0.0.0.1": true, "64:ff9b::e000:1": true,
		"2002:7f00:1::": true, "2002:7f00:1::1": true, "2002:a9fe:a9fe::35": true, "2002:0:1::": true, "::127.0.0.1": true,

		"192.0.2.53": false, "10.0.0.5": false, "2001:db8::53": false, "fd00::53": false,
		"64:ff9b::192.0.2.53": false, "64:ff9b:1::c000:235": false, "2002:c000:235::1": false, "2003:7f00:1::": false, "64:ff9a::127.0.0.1": false,
	} {
		require.Equal(t, want, Local(netip.MustParseAddr(text)), text)
	}
}
