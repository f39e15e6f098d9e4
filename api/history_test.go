package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// pastNames has one change of each project for any host name.
type pastNames struct {
	service.NoHistory
	asked []string
}

func (p *pastNames) OfName(_ context.Context, host string, reads func(string) bool) ([]intent.NameTurn, error) {
	p.asked = append(p.asked, host)
	var turns []intent.NameTurn
	for _, project := range []string{"shop", "bakery"} {
		if reads(project) {
			turns = append(turns, intent.NameTurn{
				Time: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), Project: project, Cause: intent.Cause{Reason: intent.CauseAddress},
				Changes: []intent.TargetChange{{Type: "A", Added: []string{"203.0.113.7"}}},
			})
		}
	}
	return turns, nil
}

// TestTheHistoryOfANameIsOfReadableProjects, by its canonical name.
func TestTheHistoryOfANameIsOfReadableProjects(t *testing.T) {
	t.Parallel()
	past := &pastNames{}
	_, authenticator := tokenFile(t, everyRole+"none,nina,viewer,attic\n")
	w := newWorld(t, func(o *api.Options) { o.Authenticator, o.History = authenticator, past })
	for token, projects := range map[string][]string{"v": {"shop", "bakery"}, "pv": {"shop"}, "other": {"bakery"}, "none": {}} {
		w.token = token
		answer := w.send(http.MethodGet, "/v2/names/WWW.Lab.example/history", nil).want(http.StatusOK)
		seen := []string{}
		for _, item := range answer.json()["items"].([]any) {
			seen = append(seen, item.(map[string]any)["project"].(string))
		}
		require.Equal(t, projects, seen, token)
	}
	require.Equal(t, "www.lab.example", past.asked[0])
	w.token = "v"
	require.Contains(t, w.send(http.MethodGet, "/v2/names/a..example/history", nil).want(http.StatusBadRequest).Body.String(), "path parameter host")
	w.token = "wrong"
	w.send(http.MethodGet, "/v2/names/www.lab.example/history", nil).want(http.StatusUnauthorized)
}
