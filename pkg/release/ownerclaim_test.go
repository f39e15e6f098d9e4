package release_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// twoOfOneOwner are prod and test, whose records have the same owner id.
func twoOfOneOwner(t testing.TB) *world {
	w := newShop(t)
	w.associate(eu, "lab", "corp")
	w.put(lab, ownerID("lab.example", "mine"))
	w.put(corp, ownerID("corp.example", "mine"))
	w.group(test, "api", "api.corp.example")
	return w
}

// TestOfTwoReleasesAtOnceOneGetsTheOwnerID: neither can see the other.
func TestOfTwoReleasesAtOnceOneGetsTheOwnerID(t *testing.T) {
	t.Parallel()
	for _, between := range []string{"/signpost/owner-id/", "/signpost/release/"} {
		w := twoOfOneOwner(t)
		_, refused := w.atOnce(prod, test, between)
		require.ErrorContains(t, refused, "external-dns-parameters/txt-owner-id")
		require.ErrorContains(t, refused, string(lab))
		require.ErrorContains(t, refused, string(corp))
	}
}

func TestAnOwnerIDIsFreeWhenItsExternalDNSIsGone(t *testing.T) {
	t.Parallel()
	w := twoOfOneOwner(t)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.clock.pass(time.Hour)
	w.do(intent.Terminate, prod)
	require.NoError(t, w.rest())
	_, err := w.try(intent.Instantiate, test, "")
	require.ErrorContains(t, err, "txt-owner-id", "it still removes its names")
	w.clock.pass(time.Hour)
	require.NoError(t, w.rest())
	require.Equal(t, intent.Terminated, w.state(prod))
	w.do(intent.Instantiate, test)
	w.settle(test)
	w.refuses(intent.Instantiate, prod, "txt-owner-id")
}

// TestTheOwnerIDOfNamesThatWereLeftBehindIsNotFree, as long as their record is there:
// another external-dns with it would change and delete them.
func TestTheOwnerIDOfNamesThatWereLeftBehindIsNotFree(t *testing.T) {
	t.Parallel()
	for reason, spec := range map[string]string{
		"a policy that deletes nothing":  strings.Replace(ownerID("lab.example", "mine"), `"policy":"sync"`, `"policy":"upsert-only"`, 1),
		"a record that is suspended":     strings.Replace(ownerID("lab.example", "mine"), `{"provider"`, `{"suspend":true,"provider"`, 1),
		"one that is written anew since": strings.Replace(ownerID("lab.example", "mine"), `"policy":"sync"`, `"policy":"create-only"`, 1),
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := twoOfOneOwner(t)
			w.put(lab, spec)
			w.running(prod)
			w.do(intent.Terminate, prod)
			w.outlive()
			w.clock.pass(time.Hour)
			require.NoError(t, w.rest())
			require.Equal(t, intent.Terminated, w.state(prod))
			if reason == "one that is written anew since" {
				w.put(lab, ownerID("lab.example", "other"))
			}
			require.Contains(t, fmt.Sprint(w.plan(test, intent.Instantiate).Errors), "txt-owner-id")
			w.refuses(intent.Instantiate, test, "txt-owner-id", `the owner id "mine"`)

			w.associate(eu, "corp")
			require.NoError(t, w.delete(lab))
			w.put(lab, spec) // another of this name has published nothing
			w.do(intent.Instantiate, test)
		})
	}
}

// TestAnOwnerIDIsFreeWhenItsReleaseWasNeverAccepted: as when the process died.
func TestAnOwnerIDIsFreeWhenItsReleaseWasNeverAccepted(t *testing.T) {
	t.Parallel()
	w := twoOfOneOwner(t)
	w.diesBeforeItIsAccepted(prod, test, "txt-owner-id")
}

// TestAnOwnerIDInUseIsWarnedOfWhenItIsWritten, and not named to those who may not
// know whose it is.
func TestAnOwnerIDInUseIsWarnedOfWhenItIsWritten(t *testing.T) {
	t.Parallel()
	w := twoOfOneOwner(t)
	all := intent.As(t.Context(), intent.Actor{Reads: func(string) bool { return true }})
	warnings := func(ctx context.Context, record intent.Path) []intent.Warning {
		snap, err := w.service.RecordSnapshot(ctx, record)
		require.NoError(t, err)
		return slices.DeleteFunc(snap.Warnings, func(w intent.Warning) bool { return w.Parameter != "txt-owner-id" })
	}
	require.Empty(t, warnings(all, corp), "nobody uses it yet")
	w.do(intent.Instantiate, prod)
	require.Empty(t, warnings(all, lab), "its own")
	require.Equal(t, []intent.Warning{{
		Parameter: "txt-owner-id",
		Message:   "is the owner id of " + string(lab) + " on edge+hub; remove it, and the provider gets one of its own; until then plans refuse it",
	}}, warnings(all, corp))
	require.Contains(t, warnings(t.Context(), corp)[0].Message, "is the owner id of another project; ")
	w.put(corp, ownerID("corp.example", "sp-k7wq2m9x-00000000"))
	require.Contains(t, warnings(all, corp)[0].Message, "has the form of Signpost's generated owner ids")
}
