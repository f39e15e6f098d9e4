package release_test

import (
	"strings"
	"testing"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// quotas sets those of a project of the story.
func (w *world) quotas(quotas string) {
	w.put(shop, `{"namespace":"shop-dns","quotas":{`+quotas+`}}`)
}

func TestAProjectPublishesNoMoreNamesThanItsQuota(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.quotas(`"names":2`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.group(test, "web", "test.lab.example")
	w.do(intent.Instantiate, test)
	w.settle(test)

	w.hostnames(test, "test.lab.example", "more.lab.example")
	w.refuses(intent.Update, test, "projects/shop#/spec/quotas/names", "would publish 3 names, and may 2", "have an admin raise")
	w.hostnames(test, "other.lab.example")
	w.do(intent.Update, test)
	w.settle(test)

	w.quotas(`"names":1`)
	w.hostnames(test, "another.lab.example")
	w.do(intent.Update, test) // who takes no more than they have is not refused
	w.settle(test)
	w.do(intent.Terminate, prod)
	w.settle(prod)
	w.refuses(intent.Instantiate, prod, "would publish 2 names, and may 1")
	w.quotas(`"names":2`)
	w.do(intent.Instantiate, prod)
}

func TestAProjectRunsNoMoreExternalDNSThanItsQuota(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.quotas(`"externalDNS":1`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.group(test, "web", "test.lab.example")
	w.do(intent.Instantiate, test) // one that runs already is shared
	w.settle(test)

	w.associate(eu, "lab", "corp")
	w.hostnames(test, "test.lab.example", "www.corp.example")
	w.refuses(intent.Update, test, "projects/shop#/spec/quotas/externalDNS", "would run 2 external-dns, and may 1")
	w.quotas(``)
	w.do(intent.Update, test)
}

// TestQuotasOfTheServerAreForProjectsWithoutOnes: --max-names and --max-external-dns.
func TestQuotasOfTheServerAreForProjectsWithoutOnes(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	none := 0
	w.options.Quotas = intent.Quotas{Names: &none, ExternalDNS: &none}
	w.restartOn(w.fake)
	w.refuses(intent.Instantiate, prod, "would publish 1 names, and may 0", "would run 1 external-dns, and may 0")
	w.quotas(`"names":1`)
	w.refuses(intent.Instantiate, prod, "would run 1 external-dns, and may 0")
	w.quotas(`"names":1,"externalDNS":1`)
	w.do(intent.Instantiate, prod)
	w.do(intent.Terminate, prod) // which no quota keeps from
}

// hostnames gives the DNS intent of a group these host names.
func (w *world) hostnames(group intent.Path, names ...string) {
	w.Helper()
	w.put(www(group), `{"app":"web","serviceName":"web","hostnames":["`+strings.Join(names, `","`)+`"]}`)
}
