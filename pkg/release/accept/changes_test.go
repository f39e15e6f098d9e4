package accept

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func TestChangesOfANameAreToldFieldByField(t *testing.T) {
	t.Parallel()
	document := func(body string) *intent.NameDocument { return &intent.NameDocument{Body: []byte(body)} }
	was := document(`{"metadata":{"name":"a.example","description":"x"},"spec":{"service":"shop/web","ttl":1000000,"clusters":["edge/eu","edge/us"],"routing":{"policy":"all"}}}`)
	for changed, body := range map[string]string{
		"": `{"spec":{"service":"shop/web","ttl":1000000,"clusters":["edge/eu","edge/us"],"routing":{"policy":"all"}}}`,
		"changes clusters from edge/eu, edge/us to edge/eu; routing; service from shop/web to nothing; ttl from 1000000 to 30": `{"spec":{"ttl":30,"clusters":["edge/eu"],"routing":{"policy":"failover"}}}`,
	} {
		require.Equal(t, changed, changesOf(was, document(body)))
	}
	require.Empty(t, changesOf(nil, was), "it is new")
	four := func(last string) *intent.NameDocument {
		return document(`{"spec":{"addresses":["a","b","c","` + last + `"]}}`)
	}
	require.Equal(t, "changes addresses", changesOf(four("d"), four("e")), "what is cut cannot be told apart")
}
