package release_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

var (
	europe  = intent.ClusterSelection{Labels: map[string]string{"region": "eu"}}
	america = intent.ClusterSelection{Labels: map[string]string{"region": "us"}}
)

// continents is a world with two clusters in each of two regions, and names in all four.
func continents(t testing.TB) *world {
	w := newWorld(t)
	w.put(shop, `{"namespace":"shop-dns"}`)
	w.put("cluster-providers/edge", `{}`)
	w.put("cluster-providers/edge/clusters/hub", `{"kubeconfigRef":"sealed"}`)
	for name, region := range map[string]string{"berlin": "eu", "paris": "eu", "boston": "us", "dallas": "us"} {
		w.put(intent.Join("cluster-providers/edge/clusters", name), fmt.Sprintf(`{"kubeconfigRef":"sealed","labels":{"region":%q}}`, region))
	}
	w.put(lab, record("lab.example", `,"deployOn":{"clusterProvider":"edge","cluster":"hub"}`))
	return w
}

// everywhere gives a name of all four clusters, and an address in each.
func (w *world) everywhere(host, more string) intent.Path {
	w.Helper()
	service, _, _ := strings.Cut(host, ".")
	for n, cluster := range []string{berlin, paris, "edge+boston", "edge+dallas"} {
		w.observe(cluster, "shop/"+service, fmt.Sprintf("203.0.113.%d", 10*(n+1)))
	}
	path := shop.Child("names", host)
	require.NoError(w, w.publish(path, `{"service":"shop/`+service+`","clusters":["edge/berlin","edge/paris","edge/boston","edge/dallas"],"provider":"lab"`+more+`}`))
	return path
}

func (w *world) preview(spec intent.FailoverSpec) intent.FailoverPreview {
	w.Helper()
	preview, err := w.service.PreviewFailover(context.Background(), spec, intent.FailoverOptions{Actor: "olga"})
	require.NoError(w, err)
	return preview
}

func (w *world) failOver(spec intent.FailoverSpec, o intent.FailoverOptions) (intent.FailoverRecord, error) {
	o.Actor = "olga"
	return w.service.FailOver(context.Background(), spec, o)
}

// answer has the authoritative servers answer all names of an owner as they are published.
func (w *world) answer(owners ...intent.Path) {
	w.Helper()
	w.answerAs("Matches", owners...)
}

// answerAs has a verdict be found on all names of some owners, with the targets that they have.
func (w *world) answerAs(verdict string, owners ...intent.Path) {
	w.Helper()
	all := map[string]*observed.Answers{}
	for _, owner := range owners {
		for _, o := range w.bundle(appcontext.Owner(owner)) {
			if o.Published == nil {
				continue
			}
			given := &observed.Answers{Project: "shop", Record: o.Published.Record, Scope: o.Published.Scope}
			names := map[state.NameKey][]string{}
			state.CollectNames(o.Published, names)
			for _, key := range slices.SortedFunc(maps.Keys(names), state.CompareNames) {
				given.Names = append(given.Names, observed.NameAnswer{Name: key.Name, Type: key.Kind, Targets: names[key], Seen: true, Verdict: verdict, Message: "192.0.2.53:53 says so", Since: w.clock.Now(), Answers: []intent.Answer{{Server: "192.0.2.53:53", At: w.clock.Now()}}})
			}
			all[o.ID.Namespace+"/"+o.ID.Name] = given
		}
	}
	writer, err := w.observed.Writer(context.Background(), hub, fence)
	require.NoError(w, err)
	require.NoError(w, writer.SetAnswers(context.Background(), all))
}

func (w *world) follow(id string) intent.FailoverRecord {
	w.Helper()
	_, err := w.service.Follow(context.Background())
	require.NoError(w, err)
	r, err := w.service.Failover(context.Background(), id)
	require.NoError(w, err)
	return r
}

// TestARegionFailsOver with a preview, until DNS answers, and back.
func TestARegionFailsOver(t *testing.T) {
	t.Parallel()
	w := continents(t)
	var ends []string
	w.service.Recorder = func(_ context.Context, owner intent.Path, events ...intent.Event) {
		if owner == clusterPath(t, berlin) && events[0].Outcome == "completed" {
			ends = append(ends, events[0].Message)
		}
	}
	www, api := w.everywhere("www.lab.example", `,"ttl":60`), w.everywhere("api.lab.example", ``)
	w.settle(www, api)
	w.answer(www, api)
	before := w.published(www)

	spec := intent.FailoverSpec{Drain: europe, Reason: "flood"}
	preview := w.preview(spec)
	require.Equal(t, []string{berlin, paris}, preview.Drain)
	require.Equal(t, intent.FailoverCounts{Names: 2}, preview.Counts)
	require.Equal(t, intent.FailoverHosts{Moved: 2}, preview.Hosts)
	require.Empty(t, preview.Refusals)
	require.Equal(t, "5m0s", preview.CachesFor, "the name without a TTL has that of most DNS providers")
	require.Equal(t, intent.MovedName{
		Name: "www.lab.example", Type: "A", Project: "shop", Owner: www, Record: "lab",
		Before: []string{"203.0.113.10", "203.0.113.20", "203.0.113.30", "203.0.113.40"}, After: []string{"203.0.113.30", "203.0.113.40"},
		ClustersBefore: []string{berlin, "edge+boston", "edge+dallas", paris}, ClustersAfter: []string{"edge+boston", "edge+dallas"},
		Homes: []string{hub}, TTL: 60,
	}, preview.Names[1])
	w.settle(www)
	require.Equal(t, before, w.published(www), "a preview changes nothing")

	done, err := w.failOver(spec, intent.FailoverOptions{Confirm: preview.Token})
	require.NoError(t, err)
	require.Equal(t, intent.FailoverMoving, done.State)
	require.Equal(t, "its old targets are still published", w.follow(done.ID).Names[0].Message)
	w.settle(www, api)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.30,203.0.113.40"}, w.published(www))
	is := w.follow(done.ID)
	require.NotNil(t, is.Names[1].Published)
	require.Nil(t, is.Names[1].Answered, "answers about other targets say nothing of the new ones")
	w.answer(www, api)
	is = w.follow(done.ID)
	require.Equal(t, intent.FailoverDone, is.State)
	require.Contains(t, ends, "failover "+done.ID+": Done, 2 of 2 names are answered")
	require.Equal(t, w.clock.Now().Add(time.Minute), *is.Names[1].CachesUntil)
	require.Equal(t, w.clock.Now().Add(5*time.Minute), *is.CachesUntil)

	w.clock.pass(time.Hour)
	back, err := w.service.Revert(context.Background(), done.ID, intent.FailoverOptions{Actor: "olga"})
	require.NoError(t, err)
	require.Equal(t, []string{berlin, paris}, back.Undrained)
	w.settle(www, api)
	require.Equal(t, before, w.published(www))
	w.answer(www, api)
	require.Equal(t, intent.FailoverDone, w.follow(back.ID).State)
	require.Equal(t, back.ID, w.follow(done.ID).RevertedBy)
	_, err = w.service.Revert(context.Background(), done.ID, intent.FailoverOptions{})
	require.ErrorContains(t, err, "was reverted by "+back.ID)

	page, err := w.service.Failovers(context.Background(), 10, "")
	require.NoError(t, err)
	require.Len(t, page.Items, 2)
	require.Equal(t, "flood", page.Items[0].Reason)
}

// TestARevertIsNotJudgedByAnAnswerOfBefore: that servers no longer answer what was leaving is no news of what comes back.
func TestARevertIsNotJudgedByAnAnswerOfBefore(t *testing.T) {
	t.Parallel()
	w := continents(t)
	www := w.everywhere("www.lab.example", ``)
	w.settle(www)
	w.answer(www)
	w.clock.pass(time.Second)
	first, err := w.failOver(intent.FailoverSpec{Drain: europe}, intent.FailoverOptions{})
	require.NoError(t, err)
	w.settle(www)
	back, err := w.service.Revert(context.Background(), first.ID, intent.FailoverOptions{Actor: "olga"})
	require.NoError(t, err)
	w.settle(www)
	name := w.follow(back.ID).Names[0]
	require.Equal(t, verify.AskedAgain, name.Message, "nobody has asked since the targets went")
	require.NotNil(t, name.Published)
	for verdict, want := range map[string]string{"Gone": verify.AskedAgain, "StillThere": verify.AskedAgain, "NotThere": "192.0.2.53:53 says so"} {
		w.answerAs(verdict, www)
		require.Equal(t, want, w.follow(back.ID).Names[0].Message, verdict)
	}
	w.answer(www)
	require.Equal(t, intent.FailoverDone, w.follow(back.ID).State)
}

// TestAFailoverIsNotDoneBeforeItsDNSEndpointsAreThere: as long as their home does not answer, DNS may go on to have the targets
// that come back, and change later.
func TestAFailoverIsNotDoneBeforeItsDNSEndpointsAreThere(t *testing.T) {
	t.Parallel()
	w := continents(t)
	www := w.everywhere("www.lab.example", ``)
	w.settle(www)
	first, err := w.failOver(intent.FailoverSpec{Drain: europe}, intent.FailoverOptions{})
	require.NoError(t, err)
	w.settle(www)
	w.down[hub] = true
	back, err := w.service.Revert(context.Background(), first.ID, intent.FailoverOptions{Actor: "olga"})
	require.NoError(t, err)
	require.NoError(t, w.rest())
	w.clock.pass(time.Second)
	w.answer(www)
	is := w.follow(back.ID)
	require.Equal(t, intent.FailoverMoving, is.State)
	require.Equal(t, "the DNSEndpoint is not in its home yet", is.Names[0].Message)
	delete(w.down, hub)
	w.clock.pass(time.Second)
	w.settle(www)
	require.Equal(t, verify.AskedAgain, w.follow(back.ID).Names[0].Message)
	w.answer(www)
	require.Equal(t, intent.FailoverDone, w.follow(back.ID).State)
}

// TestEachClusterOfAFailoverHearsOfItsOwnEnd: one that was undrained does not read as drained.
func TestEachClusterOfAFailoverHearsOfItsOwnEnd(t *testing.T) {
	t.Parallel()
	w := continents(t)
	www := w.everywhere("www.lab.example", ``)
	w.settle(www)
	w.answer(www)
	require.NoError(t, w.service.Drain(t.Context(), clusterPath(t, berlin), intent.DrainOptions{}))
	w.settle(www)
	var told []string
	w.service.Recorder = func(_ context.Context, owner intent.Path, events ...intent.Event) {
		for _, e := range events {
			if strings.HasPrefix(string(owner), "cluster-providers/") && strings.HasPrefix(e.Message, "failover ") {
				told = append(told, fmt.Sprintf("%s %s %s", e.Action, owner.Name(), e.Outcome))
			}
		}
	}
	done, err := w.failOver(intent.FailoverSpec{Drain: intent.ClusterSelection{Clusters: []string{"edge/boston"}}, Undrain: intent.ClusterSelection{Clusters: []string{"edge/berlin"}}}, intent.FailoverOptions{})
	require.NoError(t, err)
	w.settle(www)
	w.answer(www)
	require.Equal(t, intent.FailoverDone, w.follow(done.ID).State)
	require.Equal(t, []string{"drain boston accepted", "undrain berlin accepted", "drain boston completed", "undrain berlin completed"}, told)
}

// TestAFailoverIsFollowedOnceItHasBegun: a controller that has found no failover hears of
// one by its document.
func TestAFailoverIsFollowedOnceItHasBegun(t *testing.T) {
	t.Parallel()
	w := continents(t)
	www := w.everywhere("www.lab.example", `,"ttl":60`)
	w.settle(www)
	synctest.Test(t, func(t *testing.T) {
		w.watched(w.fake, etcd.New(w.fake).WatchAll)
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- release.NewController(w.service).Run(ctx) }()
		time.Sleep(time.Minute) // it has looked for failovers, and looks again in half an hour
		done, err := w.failOver(intent.FailoverSpec{Drain: europe}, intent.FailoverOptions{})
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		w.applyAll()
		w.answer(www)
		time.Sleep(10 * time.Second)
		is, err := w.service.Failover(ctx, done.ID)
		require.NoError(t, err)
		require.Equal(t, intent.FailoverDone, is.State)
		end()
		require.NoError(t, <-ended)
	})
}

func TestATokenBindsAFailoverToItsPreview(t *testing.T) {
	t.Parallel()
	w := continents(t)
	www := w.everywhere("www.lab.example", ``)
	w.settle(www)
	spec := intent.FailoverSpec{Drain: europe}
	token := w.preview(spec).Token
	require.Equal(t, token, w.preview(spec).Token)
	w.observe("edge+boston", "shop/www", "203.0.113.31")
	_, err := w.failOver(spec, intent.FailoverOptions{Confirm: token})
	require.Equal(t, intent.PreconditionFailed, intent.CodeOf(err))
	w.settle(www)
	token = w.preview(spec).Token
	require.NoError(t, w.drain("edge+dallas", false))
	_, err = w.failOver(spec, intent.FailoverOptions{Confirm: token})
	require.Equal(t, intent.PreconditionFailed, intent.CodeOf(err))
	_, err = w.failOver(spec, intent.FailoverOptions{Confirm: w.preview(spec).Token})
	require.NoError(t, err)
}

// TestANameThatChoosesItsClustersByLabelsIsPreviewed, and counts before a cluster is drained.
func TestANameThatChoosesItsClustersByLabelsIsPreviewed(t *testing.T) {
	t.Parallel()
	w := continents(t)
	w.observe(berlin, "shop/front", "203.0.113.10")
	w.observe(paris, "shop/front", "203.0.113.20")
	w.observe("edge+dallas", "shop/oven", "203.0.113.40")
	front, oven := shop.Child("names", "front.lab.example"), shop.Child("names", "oven.lab.example")
	require.NoError(t, w.publish(front, `{"service":"shop/front","clusters":{"selector":{"region":"eu"}},"provider":"lab"}`))
	require.NoError(t, w.publish(oven, `{"service":"shop/oven","clusters":{"selector":{"region":"us"}},"provider":"lab"}`))
	w.settle(front, oven)
	names := w.preview(intent.FailoverSpec{Drain: intent.ClusterSelection{Clusters: []string{"edge/berlin"}}}).Names
	require.Len(t, names, 1)
	require.Equal(t, "front.lab.example", names[0].Name)
	require.Equal(t, []string{"203.0.113.20"}, names[0].After)
	require.ErrorContains(t, w.drain("edge+dallas", false), "has the last addresses of oven.lab.example")
}

func TestAPreviewTellsWhichNamesAreInDanger(t *testing.T) {
	t.Parallel()
	w := continents(t)
	safe := w.everywhere("safe.lab.example", ``)
	lone, gone := shop.Child("names", "lone.lab.example"), shop.Child("names", "gone.lab.example")
	for n, cluster := range []string{berlin, paris, "edge+dallas"} {
		w.observe(cluster, "shop/few", fmt.Sprintf("203.0.113.%d", 100+n))
	}
	require.NoError(t, w.publish(lone, `{"service":"shop/few","clusters":["edge/berlin","edge/dallas"],"provider":"lab"}`))
	require.NoError(t, w.publish(gone, `{"service":"shop/few","clusters":["edge/berlin","edge/paris"],"provider":"lab"}`))
	ill := w.everywhere("ill.lab.example", ``)
	for _, cluster := range []string{"edge+boston", "edge+dallas"} {
		w.unready(cluster, "shop/ill", "203.0.113.150")
	}
	w.settle(safe, lone, gone, ill)
	w.unready(berlin, "shop/ill", "203.0.113.10") // from now on no cluster that stays is healthy
	preview := w.preview(intent.FailoverSpec{Drain: europe})
	left := map[string]string{}
	for _, row := range preview.Names {
		left[row.Name] = row.Left
	}
	require.Equal(t, map[string]string{"safe.lab.example": "", "lone.lab.example": intent.LeftOne, "gone.lab.example": intent.LeftNone, "ill.lab.example": intent.LeftUnhealthy}, left)
	require.Equal(t, intent.FailoverCounts{Names: 4, One: 1, None: 1, Unhealthy: 1}, preview.Counts)
	require.Equal(t, []intent.FailoverRefusal{{Detail: "gone.lab.example would be left without any address", Allow: "the role operator, with --force (?force=true)", Force: true}}, preview.Refusals)
	_, err := w.failOver(intent.FailoverSpec{Drain: europe}, intent.FailoverOptions{})
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "gone.lab.example would be left without any address")
	forced, err := w.failOver(intent.FailoverSpec{Drain: europe}, intent.FailoverOptions{Force: true})
	require.NoError(t, err)
	require.True(t, forced.Forced)
	w.answer(gone)
	w.settle(safe, lone, gone, ill)
	require.Empty(t, w.published(gone))
	var row intent.FailoverName
	find := func() {
		all := w.follow(forced.ID).Names
		row = all[slices.IndexFunc(all, func(n intent.FailoverName) bool { return n.Name == "gone.lab.example" })]
	}
	find()
	require.NotNil(t, row.Published)
	require.Nil(t, row.Answered, "a server still answers it")
	require.Contains(t, row.Message, "not yet to have stopped")
	w.answer()
	find()
	require.NotNil(t, row.Answered)
}

// TestTheDrainOfAnUnhealthyClusterTakesItsAddressesAway although a cluster that is drained already
// would be healthier: the preview says that the name is left without an address.
func TestTheDrainOfAnUnhealthyClusterTakesItsAddressesAway(t *testing.T) {
	t.Parallel()
	w := continents(t)
	w.observe(berlin, "shop/www", "203.0.113.10")
	w.observe("edge+boston", "shop/www", "203.0.113.30")
	www := shop.Child("names", "www.lab.example")
	require.NoError(t, w.publish(www, `{"service":"shop/www","clusters":["edge/berlin","edge/boston"],"provider":"lab"}`))
	w.settle(www)
	require.NoError(t, w.drain("edge+boston", false))
	w.settle(www)
	w.unready(berlin, "shop/www", "203.0.113.10")
	w.settle(www)
	spec := intent.FailoverSpec{Drain: intent.ClusterSelection{Clusters: []string{"edge/berlin"}}}
	preview := w.preview(spec)
	require.Len(t, preview.Names, 1)
	require.Equal(t, intent.LeftNone, preview.Names[0].Left)
	require.Empty(t, preview.Names[0].Stays)
	_, err := w.failOver(spec, intent.FailoverOptions{})
	require.ErrorContains(t, err, "www.lab.example would be left without any address")
	var ends []string
	w.service.Recorder = func(_ context.Context, owner intent.Path, events ...intent.Event) {
		if events[0].Outcome == "completed" {
			ends = append(ends, string(owner)+" "+events[0].Message)
		}
	}
	done, err := w.failOver(spec, intent.FailoverOptions{Force: true})
	require.NoError(t, err)
	w.settle(www)
	require.Empty(t, w.published(www))
	w.answer(www)
	is := w.follow(done.ID)
	require.Equal(t, intent.FailoverDone, is.State)
	require.Equal(t, intent.FailoverHosts{None: 1, Gone: 1}, is.Hosts)
	page, err := w.service.Failovers(context.Background(), 0, "")
	require.NoError(t, err)
	require.Equal(t, is.Hosts, page.Items[0].Hosts, "lists have the counts without the names")
	require.Contains(t, ends, string(clusterPath(t, berlin))+" failover "+done.ID+": Done, 1 of 1 without an address")
	require.Contains(t, ends, string(www)+" failover "+done.ID+": no authoritative server answers the old targets of www.lab.example A any more, and there are no new ones; caches may hold them until "+is.CachesUntil.Format(time.RFC3339))
}

// TestAFailoverThatIsOvertakenSaysHowManyNamesWereToLoseTheirAddress, although none of them has.
func TestAFailoverThatIsOvertakenSaysHowManyNamesWereToLoseTheirAddress(t *testing.T) {
	t.Parallel()
	w := continents(t)
	w.observe(berlin, "shop/www", "203.0.113.10")
	www := shop.Child("names", "www.lab.example")
	require.NoError(t, w.publish(www, `{"service":"shop/www","clusters":["edge/berlin"],"provider":"lab"}`))
	w.settle(www)
	begun, err := w.failOver(intent.FailoverSpec{Drain: intent.ClusterSelection{Clusters: []string{"edge/berlin"}}}, intent.FailoverOptions{Force: true})
	require.NoError(t, err)
	var ends []string
	w.service.Recorder = func(_ context.Context, owner intent.Path, events ...intent.Event) {
		if owner == clusterPath(t, berlin) && events[0].Outcome == "failed" {
			ends = append(ends, events[0].Message)
		}
	}
	w.undrain(berlin)
	require.Equal(t, intent.FailoverSuperseded, w.follow(begun.ID).State)
	require.Len(t, ends, 1)
	require.Contains(t, ends[0], "failover "+begun.ID+": Superseded, 0 of 1 without an address; edge+berlin was undrained by ")
}

// TestARecordCountsMoreNamesThanItLists: it says how many move, and of how many it knows that they are answered.
func TestARecordCountsMoreNamesThanItLists(t *testing.T) {
	t.Parallel()
	const all, listed = 1002, 1000
	w := newShop(t)
	hosts := make([]string, all)
	for n := range hosts {
		hosts[n] = fmt.Sprintf("%q", fmt.Sprintf("n%04d.lab.example", n))
	}
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":[`+strings.Join(hosts, ",")+`]}`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	var ends []string
	w.service.Recorder = func(_ context.Context, owner intent.Path, events ...intent.Event) {
		if owner == clusterPath(t, berlin) && events[0].Outcome == "completed" {
			ends = append(ends, events[0].Message)
		}
	}
	spec := intent.FailoverSpec{Drain: intent.ClusterSelection{Clusters: []string{"edge/berlin"}}}
	preview := w.preview(spec)
	require.Equal(t, intent.FailoverHosts{Moved: all, One: all}, preview.Hosts)
	begun, err := w.failOver(spec, intent.FailoverOptions{})
	require.NoError(t, err)
	require.Equal(t, preview.Hosts, begun.Hosts)
	w.settle(prod)
	w.answer(prod)
	is := w.follow(begun.ID)
	require.Equal(t, intent.FailoverDone, is.State)
	require.Equal(t, "2 further records were not followed one by one", is.Message)
	require.Equal(t, intent.FailoverHosts{Moved: all, Answered: listed, One: all}, is.Hosts)
	require.Equal(t, []string{"failover " + begun.ID + ": Done, 1000 of 1002 names are answered; 2 further records were not followed one by one"}, ends)
}

// TestAPreviewTellsWhichClustersCannotBeReached, from the first moment on: a failover to them
// would be one into the dark.
func TestAPreviewTellsWhichClustersCannotBeReached(t *testing.T) {
	t.Parallel()
	w := continents(t)
	www := w.everywhere("www.lab.example", ``)
	w.settle(www)
	w.reachable(berlin, paris, "edge+dallas")
	spec := intent.FailoverSpec{Drain: europe}
	w.lost("edge+boston", time.Minute)
	since := w.clock.Now().Add(-time.Minute)
	before := w.preview(spec)
	require.Equal(t, []intent.LostCluster{{Cluster: "edge+boston", Since: since}}, before.Unreachable)
	require.Empty(t, before.Names[0].Left, "dallas answers")
	w.lost("edge+dallas", time.Second)
	after := w.preview(spec)
	require.Len(t, after.Unreachable, 2)
	require.Equal(t, intent.LeftUnhealthy, after.Names[0].Left)
	require.Equal(t, 1, after.Counts.Unhealthy)
	_, err := w.failOver(spec, intent.FailoverOptions{Confirm: before.Token})
	require.Equal(t, intent.PreconditionFailed, intent.CodeOf(err), "nobody has confirmed that")
	w.reachable("edge+boston", "edge+dallas")
	require.Empty(t, w.preview(spec).Unreachable)
}

// unready has a cluster offer a Service without a ready endpoint.
func (w *world) unready(cluster, service, ip string) {
	w.Helper()
	namespace, name, _ := strings.Cut(service, "/")
	writer, err := w.observed.Writer(context.Background(), cluster, fence)
	require.NoError(w, err)
	require.NoError(w, writer.SetService(context.Background(), namespace, name, address.Observation{
		Found: true, Candidates: []address.Candidate{{Target: ip, Field: "status.loadBalancer.ingress[0].ip"}},
		Readiness: &address.Readiness{Total: 1, Since: w.clock.Now()},
	}))
}

func TestWhatMeansNothingIsRefused(t *testing.T) {
	t.Parallel()
	w := continents(t)
	www := w.everywhere("www.lab.example", ``)
	w.settle(www)
	all := intent.ClusterSelection{Clusters: []string{"edge/berlin", "edge/paris", "edge/boston", "edge/dallas", "edge/hub"}}
	for reason, c := range map[string]struct {
		spec intent.FailoverSpec
		code intent.Code
		text string
	}{
		"nothing is selected":                {intent.FailoverSpec{}, intent.Invalid, "the set of clusters is empty"},
		"labels that no cluster has":         {intent.FailoverSpec{Drain: intent.ClusterSelection{Labels: map[string]string{"region": "mars"}}}, intent.Conflict, "no cluster has the labels region=mars; clusters have region=eu, region=us"},
		"a cluster that is not there":        {intent.FailoverSpec{Drain: intent.ClusterSelection{Clusters: []string{"edge/rome"}}}, intent.Conflict, "edge/rome is not registered"},
		"both ways at once":                  {intent.FailoverSpec{Drain: europe, Undrain: all}, intent.Conflict, "edge+berlin is to be both drained and undrained"},
		"everything":                         {intent.FailoverSpec{Drain: all}, intent.Conflict, "all 5 clusters would be drained"},
		"clusters that are as asked for":     {intent.FailoverSpec{Undrain: europe}, intent.Conflict, "nothing would change: edge+berlin, edge+paris"},
		"every fault is told, not the first": {intent.FailoverSpec{Drain: all}, intent.Conflict, "www.lab.example would be left without any address"},
	} {
		_, err := w.failOver(c.spec, intent.FailoverOptions{})
		require.Equal(t, c.code, intent.CodeOf(err), reason)
		require.ErrorContains(t, err, c.text, reason)
	}
	page, err := w.service.Failovers(context.Background(), 10, "")
	require.NoError(t, err)
	require.Empty(t, page.Items, "what is refused leaves no record")
}

// TestASuspendedGroupDoesNotMove: the preview says so, and why.
func TestASuspendedGroupDoesNotMove(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.put(prod, `{"logicalCloud":"eu","suspend":true,"apps":[{"name":"web"}]}`, eu)
	w.settle()
	preview := w.preview(intent.FailoverSpec{Drain: intent.ClusterSelection{Clusters: []string{"edge/berlin"}}})
	require.Equal(t, intent.FailoverCounts{Stay: 1}, preview.Counts)
	require.Contains(t, preview.Names[0].Stays, "suspended")
	require.Empty(t, preview.Warnings)
	w.reach("edge+hub", observed.Reachability{Since: w.clock.Now(), Counted: w.clock.Now(), Owner: w.owned("edge+hub")})
	preview = w.preview(intent.FailoverSpec{Drain: intent.ClusterSelection{Clusters: []string{"edge/berlin"}}})
	require.Equal(t, []string{"the external-dns of records that stay (1) runs in edge+hub, which cannot be reached; their servers may answer older targets than those that are shown as before"}, preview.Warnings)
	require.Equal(t, preview.Names[0].Before, preview.Names[0].After)
}

// TestClustersThatComeBackInTheMiddle end a failover, whose record says who did that.
func TestClustersThatComeBackInTheMiddle(t *testing.T) {
	t.Parallel()
	w := continents(t)
	www := w.everywhere("www.lab.example", ``)
	w.settle(www)
	first, err := w.failOver(intent.FailoverSpec{Drain: europe}, intent.FailoverOptions{})
	require.NoError(t, err)
	w.clock.pass(time.Second)
	w.undrain(berlin)
	second, err := w.failOver(intent.FailoverSpec{Drain: intent.ClusterSelection{Clusters: []string{"edge/berlin", "edge/boston"}}}, intent.FailoverOptions{})
	require.NoError(t, err)
	is := w.follow(first.ID)
	require.Equal(t, intent.FailoverSuperseded, is.State)
	require.Equal(t, "edge+berlin was drained anew by olga", is.Message)
	back, err := w.service.Revert(context.Background(), first.ID, intent.FailoverOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{paris}, back.Undrained, "what others have done since stays")
	require.Equal(t, intent.FailoverMoving, w.follow(second.ID).State)
	preview := w.preview(intent.FailoverSpec{Undrain: america})
	require.Contains(t, strings.Join(preview.Warnings, "\n"), "failover "+second.ID+" is still moving names")
}

// TestARecordThatIsDoneTellsWhoUndidItLater: it stays done. Clusters that a revert changed back are not told again.
func TestARecordThatIsDoneTellsWhoUndidItLater(t *testing.T) {
	t.Parallel()
	w := continents(t)
	www := w.everywhere("www.lab.example", ``)
	w.settle(www)
	w.answer(www)
	first, err := w.failOver(intent.FailoverSpec{Drain: europe}, intent.FailoverOptions{})
	require.NoError(t, err)
	w.settle(www)
	w.answer(www)
	is := w.follow(first.ID)
	require.Equal(t, intent.FailoverDone, is.State)
	require.Empty(t, is.Undone)

	w.clock.pass(time.Minute)
	w.undrain(berlin)
	w.clock.pass(time.Minute)
	second, err := w.failOver(intent.FailoverSpec{Undrain: europe, Drain: intent.ClusterSelection{Clusters: []string{"edge/boston"}}, Reason: "dry"}, intent.FailoverOptions{})
	require.NoError(t, err)
	w.settle(www)
	w.answer(www)
	want := []intent.FailoverUndone{
		{Cluster: berlin, Drained: intent.Drained{Since: first.Time.Add(time.Minute), Actor: "alice"}},
		{Cluster: paris, Drained: intent.Drained{Since: second.Time, Actor: "olga", Failover: second.ID, Reason: "dry"}},
	}
	is = w.follow(first.ID)
	require.Equal(t, intent.FailoverDone, is.State)
	require.Equal(t, want, is.Undone)
	require.NoError(t, w.service.NoteUndone(context.Background()))
	w.clock.pass(48 * time.Hour)
	require.NoError(t, w.drain("edge+dallas", true)) // the list forgets who undrained berlin and paris
	require.Equal(t, want, w.follow(first.ID).Undone, "its record has it for ever")
	page, err := w.service.Failovers(context.Background(), 10, "")
	require.NoError(t, err)
	require.Equal(t, want, page.Items[0].Undone)

	back, err := w.service.Revert(context.Background(), second.ID, intent.FailoverOptions{Force: true})
	require.NoError(t, err)
	is = w.follow(second.ID)
	require.Equal(t, back.ID, is.RevertedBy)
	require.Empty(t, is.Undone)
}

// TestOnlyUndrainsOfOthersAreToldAsUndone: neither a later drain, nor a revert that was noted too early. An undrain is
// told also if the cluster was drained anew soon.
func TestOnlyUndrainsOfOthersAreToldAsUndone(t *testing.T) {
	t.Parallel()
	w := continents(t)
	www := w.everywhere("www.lab.example", ``)
	w.settle(www)
	w.answer(www)
	done := func(spec intent.FailoverSpec) intent.FailoverRecord {
		record, err := w.failOver(spec, intent.FailoverOptions{Force: true})
		require.NoError(t, err)
		w.settle(www)
		w.answer(www)
		require.Equal(t, intent.FailoverDone, w.follow(record.ID).State)
		w.clock.pass(time.Minute)
		return record
	}
	only := intent.ClusterSelection{Clusters: []string{"edge/berlin"}}
	drained := done(intent.FailoverSpec{Drain: only})
	undrained := done(intent.FailoverSpec{Undrain: only})
	require.NoError(t, w.drain(berlin, true))
	require.Empty(t, w.follow(undrained.ID).Undone, "a drain of later is none of it")
	want := []intent.FailoverUndone{{Cluster: berlin, Drained: intent.Drained{Since: undrained.Time, Actor: "olga", Failover: undrained.ID}}}
	require.Equal(t, want, w.follow(drained.ID).Undone)
	require.NoError(t, w.service.NoteUndone(t.Context()))
	w.clock.pass(48 * time.Hour)
	w.undrain(berlin)
	require.Equal(t, want, w.follow(drained.ID).Undone)

	third := done(intent.FailoverSpec{Drain: only})
	w.meanwhile(third.ID, func() { require.NoError(t, w.service.NoteUndone(t.Context())) }) // before the record knows of the revert
	_, err := w.service.Revert(t.Context(), third.ID, intent.FailoverOptions{Force: true})
	require.NoError(t, err)
	require.Empty(t, w.follow(third.ID).Undone)
}

// TestARevertThatWasCutOffIsNotedAtItsEnd: the replica that began it may be killed before it notes that.
func TestARevertThatWasCutOffIsNotedAtItsEnd(t *testing.T) {
	t.Parallel()
	w := continents(t)
	www := w.everywhere("www.lab.example", ``)
	w.settle(www)
	first, err := w.failOver(intent.FailoverSpec{Drain: europe}, intent.FailoverOptions{})
	require.NoError(t, err)
	w.settle(www)
	w.answer(www)
	require.Equal(t, intent.FailoverDone, w.follow(first.ID).State)

	killed := errors.New("killed")
	w.fake.Before = func(op, key string) error {
		if op == "txn" && strings.Contains(key, first.ID) {
			return killed
		}
		return nil
	}
	back, err := w.service.Revert(t.Context(), first.ID, intent.FailoverOptions{})
	require.ErrorIs(t, err, killed)
	w.fake.Before = nil
	w.settle(www)
	w.answer(www)
	require.Equal(t, intent.FailoverDone, w.follow(back.ID).State)
	is := w.follow(first.ID)
	require.Equal(t, back.ID, is.RevertedBy)
	require.Empty(t, is.Undone)
}

func TestOfTwoFailoversAtOnceTheLaterKnowsOfTheEarlier(t *testing.T) {
	t.Parallel()
	w := continents(t)
	www := w.everywhere("www.lab.example", ``)
	w.settle(www)
	w.meanwhile("drained-clusters", func() {
		_, err := w.failOver(intent.FailoverSpec{Drain: europe}, intent.FailoverOptions{})
		require.NoError(t, err)
	})
	_, err := w.failOver(intent.FailoverSpec{Drain: america}, intent.FailoverOptions{})
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	page, err := w.service.Failovers(context.Background(), 10, "")
	require.NoError(t, err)
	require.Len(t, page.Items, 1, "a try that lost leaves no record")
}

// TestAPredictionIsWhatComes: for names, addresses, health, routing, drains and undrains by
// chance, what the preview says is what is published afterwards, name by name.
func TestAPredictionIsWhatComes(t *testing.T) {
	t.Parallel()
	const moves = 10
	for _, seed := range seeds(t, 6, 20, 200) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 7))
			w := continents(t)
			owners := w.scatter(random)
			for range moves {
				w.predicts(random, owners)
			}
		})
	}
}

var sites = []string{"berlin", "paris", "boston", "dallas"}

// scatter publishes names with clusters and policies by chance.
func (w *world) scatter(random *rand.Rand) []intent.Path {
	w.Helper()
	var owners []intent.Path
	for n := range 6 {
		host := fmt.Sprintf("n%d.lab.example", n)
		w.weather(random, fmt.Sprintf("shop/n%d", n))
		var clusters []string
		for _, at := range random.Perm(len(sites))[:1+random.IntN(len(sites))] {
			clusters = append(clusters, `"edge/`+sites[at]+`"`)
		}
		more := []string{``, `,"ttl":30`, `,"routing":{"policy":"failover"}`, `,"health":{"whenAllUnhealthy":"remove"}`}[random.IntN(4)]
		path := shop.Child("names", host)
		require.NoError(w, w.publish(path, fmt.Sprintf(`{"service":"shop/n%d","clusters":[%s],"provider":"lab"%s}`, n, strings.Join(clusters, ","), more)))
		owners = append(owners, path)
	}
	w.settle(owners...)
	return owners
}

// weather has each cluster offer a Service, with what address and health chance will have.
func (w *world) weather(random *rand.Rand, service string) {
	w.Helper()
	for n, site := range sites {
		ip := fmt.Sprintf("203.0.113.%d", 1+10*n+random.IntN(2))
		switch random.IntN(5) {
		case 0:
			w.unready("edge+"+site, service, ip)
		case 1:
			w.observe("edge+"+site, service, ip, fmt.Sprintf("2001:db8::%d", n+1))
		case 2:
			w.observe("edge+"+site, service)
		default:
			w.observe("edge+"+site, service, ip)
		}
	}
}

// predicts makes a move by chance, and compares what is published with its preview.
func (w *world) predicts(random *rand.Rand, owners []intent.Path) {
	w.Helper()
	if random.IntN(2) == 0 {
		w.weather(random, fmt.Sprintf("shop/n%d", random.IntN(len(owners))))
		if random.IntN(2) == 0 {
			w.settle(owners...) // else the move comes before the names have followed
		}
	}
	var spec intent.FailoverSpec
	for _, site := range sites {
		switch random.IntN(3) {
		case 0:
			spec.Drain.Clusters = append(spec.Drain.Clusters, "edge/"+site)
		case 1:
			spec.Undrain.Clusters = append(spec.Undrain.Clusters, "edge/"+site)
		}
	}
	preview, err := w.service.PreviewFailover(context.Background(), spec, intent.FailoverOptions{})
	if spec.Drain.IsZero() && spec.Undrain.IsZero() {
		require.Equal(w, intent.Invalid, intent.CodeOf(err))
		return
	}
	require.NoError(w, err)
	before := w.targets(owners)
	_, err = w.failOver(spec, intent.FailoverOptions{Force: true, Confirm: preview.Token})
	if len(preview.Drain)+len(preview.Undrain) == 0 {
		require.ErrorContains(w, err, "nothing would change")
		return
	}
	require.NoError(w, err)
	w.settle(owners...)
	w.comes(preview, before, w.targets(owners), append(preview.Drain, preview.Undrain...))
}

// comes compares a preview with what was published before and afterwards, of the names that
// the changed clusters serve.
func (w *world) comes(preview intent.FailoverPreview, before, after map[state.NameKey][]string, changed []string) {
	w.Helper()
	said := maps.Clone(before)
	for _, row := range preview.Names {
		key := state.NameKey{Name: row.Name, Kind: row.Type, Record: row.Record}
		require.ElementsMatch(w, before[key], row.Before, "%s before", row.Name)
		if row.Stays != "" {
			delete(said, key)
			delete(after, key)
			continue
		}
		if said[key] = row.After; len(row.After) == 0 {
			delete(said, key)
		}
	}
	for _, owner := range w.untouched(changed) {
		maps.DeleteFunc(said, func(key state.NameKey, _ []string) bool { return key.Name == owner })
		maps.DeleteFunc(after, func(key state.NameKey, _ []string) bool { return key.Name == owner })
	}
	require.Equal(w, said, after, "preview %+v", preview)
}

// untouched are the names of which no changed cluster is a source: they may follow the
// weather meanwhile.
func (w *world) untouched(changed []string) []string {
	w.Helper()
	var out []string
	for n := range 6 {
		path := shop.Child("names", fmt.Sprintf("n%d.lab.example", n))
		sources := w.snapshot(path).Group.Bindings[0].Sources
		if !slices.ContainsFunc(sources, func(name string) bool { return slices.Contains(changed, name) }) {
			out = append(out, path.Name())
		}
	}
	return out
}

// targets are what owners publish.
func (w *world) targets(owners []intent.Path) map[state.NameKey][]string {
	w.Helper()
	all := map[state.NameKey][]string{}
	for _, owner := range owners {
		for _, o := range w.bundle(appcontext.Owner(owner)) {
			state.CollectNames(o.Published, all)
		}
	}
	return all
}
