package e2e

import (
	"net/http"
	"testing"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

func TestARollbackBringsTheFormerNameBack(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "back")
	s.published()
	s.put(prod+"/traffic-group-intents/front/dns-intents/www", dnsIntent("www", "wrong.{zone}"))
	s.update(prod)
	s.answers("wrong.{zone}", parisAddress, berlinAddress)
	s.gone("www.{zone}")

	var accepted struct{ Revision int64 }
	s.must(s.call(http.MethodPost, prod+"/rollback?to=1", "", http.StatusAccepted).JSON(&accepted))
	if accepted.Revision != 3 {
		t.Errorf("the revision is %d", accepted.Revision)
	}
	s.answers("www.{zone}", parisAddress, berlinAddress)
	s.gone("wrong.{zone}")
	s.becomes(prod, "Instantiated")

	s.update(prod)
	s.answers("wrong.{zone}", parisAddress, berlinAddress)
	s.terminate(prod)
	s.gone("wrong.{zone}")
	s.becomes(prod, "Terminated")
	s.nothingLeft(fixture.Hub)
}
