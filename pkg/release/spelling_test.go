package release_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// spellings are ways to write one value of a parameter, as external-dns gets it.
func spellings(value string) []string {
	return []string{fmt.Sprintf("%q", value), fmt.Sprintf("[%q]", value), fmt.Sprintf(`" %s "`, value), fmt.Sprintf(`["",%q]`, value+" ")}
}

// with is a record of lab.example with one more parameter, as JSON.
func with(parameter, written string) string {
	return strings.Replace(record("lab.example", ``), `"interval"`, fmt.Sprintf(`%q:%s,"interval"`, parameter, written), 1)
}

// TestAnOwnerIDIsOnesOwnHoweverItIsWritten: one that is another's, and one of the
// form that is generated.
func TestAnOwnerIDIsOnesOwnHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	for _, written := range spellings("baker") {
		w := rivals(t)
		w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["bank.lab.example"]}`)
		w.put(lab, with("txt-owner-id", `["baker"]`))
		w.put(bankLab, with("txt-owner-id", written))
		w.do(intent.Instantiate, prod)
		w.settle(prod)
		require.Equal(t, "baker", ownerArgument(w.deployment(labOnHub)))
		w.refuses(intent.Instantiate, bankProd, `the owner id "baker" would be used by two deployments`)

		w = rivals(t)
		w.do(intent.Instantiate, prod)
		w.settle(prod)
		w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["bank.lab.example"]}`)
		w.put(bankLab, with("txt-owner-id", strings.ReplaceAll(written, "baker", w.own())))
		w.refuses(intent.Instantiate, bankProd, "the owner id \""+w.own()+"\" has the form of Signpost's generated owner ids")
	}
}

// TestAnOwnerIDInUseStaysHoweverItIsWritten: names carry the one that is deployed,
// and another spelling of it is no other.
func TestAnOwnerIDInUseStaysHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	w := running(t)
	for _, written := range spellings("other") {
		w.put(lab, with("txt-owner-id", written))
		_, err := w.service.UpdateRecord(t.Context(), lab, "", "", "ann")
		require.ErrorContains(t, err, `with "other" nobody would own them`, written)
	}
	w = newShop(t)
	w.put(lab, with("txt-owner-id", `"mine"`))
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	for _, written := range spellings("mine") {
		w.put(lab, with("txt-owner-id", written))
		w.updateRecord(lab)
		w.settle(prod)
		require.Equal(t, "mine", ownerArgument(w.deployment(labOnHub)))
	}
}

// TestAPolicyThatDeletesNothingIsKnownHoweverItIsWritten: what it leaves behind is
// told, and stays the project's.
func TestAPolicyThatDeletesNothingIsKnownHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"upsert-only", "Upsert-Only", "create-only"} {
		for _, written := range spellings(policy) {
			w := rivals(t)
			w.put(lab, strings.Replace(record("lab.example", ``), `"sync"`, written, 1))
			w.do(intent.Instantiate, prod)
			w.settle(prod)
			w.do(intent.Terminate, prod)
			w.outlive()
			require.Equal(t, []string{"policy " + strings.ToLower(policy) + " never deletes names"}, w.reasons(prod), written)
			w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project`)
		}
	}
}

// TestAPrivateZoneIsOneViewHoweverItsTypeIsWritten, and however its id is.
func TestAPrivateZoneIsOneViewHoweverItsTypeIsWritten(t *testing.T) {
	t.Parallel()
	private := func(kind, zone string) string {
		return fmt.Sprintf(`{"provider":"aws","external-dns-parameters":{"aws-zone-type":%s,"zone-id-filter":%s}}`, kind, zone)
	}
	for _, kind := range append(spellings("private"), spellings("Private")...) {
		for _, zone := range spellings("/hostedzone/Z1") {
			w := rivals(t)
			w.put(lab, private(`"private"`, `"/hostedzone/Z1"`))
			w.put(bankLab, private(kind, zone))
			w.do(intent.Instantiate, prod)
			w.settle(prod)
			w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project`)
			require.Empty(t, w.claims(), "no public name")
		}
	}
}
