package apiserver

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheServerIsAsFarAwayAsItSays(t *testing.T) {
	const away = 10 * time.Millisecond
	s := Start(t, "a", away)
	began := time.Now()
	answer, err := s.Client().Get(s.URL + "/api/v1/namespaces/kube-system")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.GreaterOrEqual(t, time.Since(began), 2*away)
}

func TestAListComesInPages(t *testing.T) {
	s := Start(t, "a", 0)
	for _, name := range []string{"a", "b", "c"} {
		s.SetService("shop", name, "203.0.113.1")
	}
	first := s.list("/api/v1/services", url.Values{"limit": {"2"}}, false)
	s.SetService("shop", "d", "203.0.113.1")
	last := s.list("/api/v1/services", url.Values{"limit": {"2"}, "continue": {first.metadata()["continue"].(string)}}, false)
	require.Len(t, first["items"], 2)
	require.Len(t, last["items"], 2)
	require.Nil(t, last.metadata()["continue"])
	require.Equal(t, first.metadata()["resourceVersion"], last.metadata()["resourceVersion"], "watches begin where the first page does")
}

func TestAnObjectIsAppliedByItsVersionAndRemovedByItsPreconditions(t *testing.T) {
	const path = "/api/v1/namespaces/shop/configmaps/a"
	s := Start(t, "a", 0)
	apply := func(metadata map[string]any) int {
		status, _ := s.apply(path, Object{"metadata": metadata})
		return status
	}
	require.Equal(t, http.StatusOK, apply(map[string]any{"name": "a", "namespace": "shop"}))
	require.Equal(t, http.StatusConflict, apply(map[string]any{"resourceVersion": "1"}), "an applier that takes it for another is refused")
	require.Len(t, s.list("/api/v1/configmaps", nil, true)["items"], 1)
	require.Empty(t, s.list("/api/v1/namespaces/other/configmaps", nil, true)["items"])

	status, _ := s.remove(path, Object{"preconditions": map[string]any{"uid": "another"}})
	require.Equal(t, http.StatusConflict, status)
	status, _ = s.remove(path, Object{"preconditions": map[string]any{"uid": s.Get(path).metadata()["uid"]}})
	require.Equal(t, http.StatusOK, status)
	require.Nil(t, s.Get(path))
}
