package release_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/status"
)

// groupsOf lists the groups of a project in pages of a size, each as "app/version/name".
func (w *world) groupsOf(project intent.Path, limit int) (lines []string, all []intent.GroupSummary) {
	w.Helper()
	for after := ""; ; {
		page, err := w.service.Reader.ListGroups(w.Context(), project, limit, after)
		require.NoError(w, err)
		require.LessOrEqual(w, len(page.Groups), limit)
		for _, snap := range page.Groups {
			one := status.Brief(snap)
			all = append(all, one)
			lines = append(lines, one.Path.Parent().Name()+"/"+one.Path.Name())
		}
		if after = page.Continue; after == "" {
			return lines, all
		}
	}
}

// TestTheGroupsOfAProjectAreListed of all its composite apps, each once and in order,
// whatever the size of pages.
func TestTheGroupsOfAProjectAreListed(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	want := []string{"store/v1/prod"}
	for _, app := range []string{"a/v1", "b/v1", "b/v2", "none/v1", "tail/v1"} {
		name, version, _ := strings.Cut(app, "/")
		path := intent.Path("projects/shop/composite-apps/" + app)
		w.put(path, fmt.Sprintf(`{"compositeAppVersion":%q}`, version))
		for n := range map[string]int{"a": 1, "b": 3, "none": 0, "tail": 2}[name] {
			group := path.Child("deployment-intent-groups", fmt.Sprintf("g%d", n))
			w.put(group, `{"logicalCloud":"eu","apps":[{"name":"web"}]}`, eu)
			want = append(want, fmt.Sprintf("%s/g%d", app, n))
		}
	}
	w.put("projects/other", `{"namespace":"other"}`)
	w.put("projects/other/composite-apps/x/v1", `{"compositeAppVersion":"v1"}`)
	for limit := 1; limit <= len(want)+1; limit++ {
		got, _ := w.groupsOf(shop, limit)
		require.ElementsMatch(t, want, got, "pages of %d", limit)
		require.IsIncreasing(t, got)
	}
	none, _ := w.groupsOf("projects/other", 10)
	require.Empty(t, none)

	_, err := w.service.Reader.ListGroups(t.Context(), "projects/nobody", 10, "")
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
	for _, after := range []string{"%", "YQ", "Ly8"} {
		_, err := w.service.Reader.ListGroups(t.Context(), shop, 10, after)
		require.Equal(t, intent.Invalid, intent.CodeOf(err), after)
	}
}

// TestAListedGroupTellsItsState, as its status does.
func TestAListedGroupTellsItsState(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	only := func() intent.GroupSummary {
		_, all := w.groupsOf(shop, 10)
		require.Len(t, all, 1)
		return all[0]
	}
	require.Equal(t, intent.GroupSummary{Path: prod, State: intent.Created}, only())
	w.bring(prod)
	require.Equal(t, intent.GroupSummary{Path: prod, State: intent.Instantiated, Release: 1, Names: 1}, only())
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"ttl":7}`)
	require.Equal(t, 1, only().Undeployed)
	w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web"}],"suspend":true}`, eu)
	require.Equal(t, status.Of(w.snapshot(prod)).Message, only().Message)
	require.Contains(t, only().Message, "suspended")
	w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web"}]}`, eu)
	w.do(intent.Terminate, prod)
	require.Equal(t, intent.GroupSummary{Path: prod, State: intent.Terminating, Release: 1}, only())
}
