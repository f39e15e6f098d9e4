package release_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// below is a record of which the keys of etcd are below a prefix: its names have the
// parts of that behind them.
func below(prefix string) string {
	return recordWith("lab", `"coredns-prefix":"`+prefix+`"`)
}

// TestANameIsJudgedAsResolversSeeIt: the prefix of etcd's keys is a part of it, in
// whatever way it is written.
func TestANameIsJudgedAsResolversSeeIt(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"/skydns/example/", "skydns/EXAMPLE", "/skydns//x/../example/", "/example/"} {
		w := rivals(t)
		w.put(bankLab, below(prefix))
		w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["www.lab"]}`)
		w.do(intent.Instantiate, prod)
		w.settle(prod)
		w.refuses(intent.Instantiate, bankProd, `"www.lab.example", as resolvers may see "www.lab" below coredns-prefix`, string(www(bankProd))+"#/spec/hostnames/0")
		require.Equal(t, map[string]string{wwwName: "shop"}, w.claims())
	}

	w := rivals(t)
	w.put(bankLab, below("/skydns/example/"))
	w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["www.lab"]}`)
	w.do(intent.Instantiate, bankProd)
	w.settle(bankProd)
	require.Equal(t, map[string]string{"www.lab": "bank", wwwName: "bank"}, w.claims())
	w.refuses(intent.Instantiate, prod, `"www.lab.example" belongs to another project`)
	w.do(intent.Terminate, bankProd)
	w.outlive()
	w.outlive()
	require.Empty(t, w.claims(), "all that it was seen as is free")
}

// TestDomainsJudgeANameAsResolversSeeIt, whether it has to lie in one or must not.
func TestDomainsJudgeANameAsResolversSeeIt(t *testing.T) {
	t.Parallel()
	ask := func(w *world, prefix, host string) {
		w.put(bankLab, below(prefix))
		w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["`+host+`"]}`)
	}
	for _, c := range []struct{ prefix, host string }{
		{"/skydns/example/", "new.lab"}, {"/skydns/example/lab/", "new.lab"}, {"/example/", "new.lab"}, {"/dns/example/", "new.lab"},
		{"/skydns/com/example/", "new.lab"}, // a CoreDNS may have the path /skydns/com
	} {
		w := rivals(t)
		w.put(shop, `{"namespace":"shop-dns","domains":["lab.example","lab.lab.example"]}`)
		ask(w, c.prefix, c.host)
		w.refuses(intent.Instantiate, bankProd, `which is granted to another project`)
	}

	for _, name := range []string{"etcd", "zone"} { // beside another record of the name
		w := rivals(t)
		w.put(shop, `{"namespace":"shop-dns","domains":["lab.example"]}`)
		ask(w, "/skydns/", "new.lab")
		w.put(intent.Join(string(bank), "dns-update-records", name), below("/skydns/example/"))
		w.associate(bankCloud, "lab", name)
		w.refuses(intent.Instantiate, bankProd, `which is granted to another project`)
	}

	w := rivals(t)
	w.options.RequireDomains = true
	w.restartOn(w.fake)
	w.put(bank, `{"namespace":"bank-dns","domains":["lab"]}`)
	ask(w, "/skydns/example/", "new.lab")
	w.refuses(intent.Instantiate, bankProd, `"new.lab.example", as resolvers may see "new.lab" below coredns-prefix /skydns/example/, lies in no domain that is granted to the project`)
	w.put(bank, `{"namespace":"bank-dns","domains":["lab.example"]}`)
	w.do(intent.Instantiate, bankProd)
}

// TestARecordInUseKeepsItsPrefix: resolvers see its names with that.
func TestARecordInUseKeepsItsPrefix(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.put(lab, recordWith("lab.example", `"coredns-prefix":"skydns"`)) // is the default
	_, err := w.service.UpdateRecord(context.Background(), lab, "", "", "ann")
	require.NoError(t, err)
	w.put(lab, recordWith("lab.example", `"coredns-prefix":"/skydns/example/"`))
	_, err = w.service.UpdateRecord(context.Background(), lab, "", "", "ann")
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "resolvers would see the names of the provider as other names")
}
