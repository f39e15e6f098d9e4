package searchpath_test

import (
	"slices"
	"testing"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/searchtest"
)

func TestMain(m *testing.M) { searchtest.Main(m) }

// The cache keeps answers by the pods' own names, so searchpath is behind it; it
// knows nothing of options, so searchexpand is before it.
func TestThePluginsAreBesideTheCache(t *testing.T) {
	place := slices.Index(dnsserver.Directives, "cache")
	require.Equal(t, []string{"autopath", "acl", "searchexpand", "cache", "searchpath", "header"}, dnsserver.Directives[place-3:place+3])
}
