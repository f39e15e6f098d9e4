package emco

import "strings"

// The keys of a context. Every key ends in a slash, and every value is JSON;
// instructions, objects and what the monitor says are JSON in a JSON text.
//
//	/context/<id>/                                  "<id>"
//	/context/<id>/meta/                             {…}
//	/context/<id>/app/instruction/order/            "{\"apporder\":[…]}", the last but one to be written
//	/context/<id>/app/instruction/dependency/       "{\"<app>\":\"go\"}"
//	/context/<id>/app/<app>/                        "<app>"
//	/context/<id>/app/<app>/instruction/dependency/ "[…]"
//	/context/<id>/app/<app>/cluster/<cluster>/      "<cluster>"
//	   …/!@#metaGrp/                                "1"
//	   …/status/                                    "{…}", by the monitor
//	   …/resource/<name>+<Kind>/                    "<object>"
//	   …/resource/instruction/order/                "{\"resorder\":[…]}"
//	   …/resource/instruction/dependency/           "{\"resdependency\":{…}}"
//	/context/<id>/status/, rsync/state/…            {"Status":"…"}, by rsync
//	/context/<id>/rsync/AppContextEventQueue/       {"AcQueue":[{"event":"…","uCID":"<id of another context>",…}]}, what rsync was told
//	/context/<id>/statusappctxid/                   "<id of the context that has the statuses>"
const (
	contextPrefix = "/context/"

	metaLevel          = "meta/"
	statusLevel        = "status/"
	statusContextLevel = "statusappctxid/"
	currentStateLevel  = "rsync/state/CurrentState/"
	desiredStateLevel  = "rsync/state/DesiredState/"
	queueLevel         = "rsync/AppContextEventQueue/"
	appOrderLevel      = "app/instruction/order/"
	orderLevel         = "resource/instruction/order/"
)

func contextKey(id string) string { return contextPrefix + id + "/" }

func metaKey(id string) string { return contextKey(id) + metaLevel }

func appsKey(id string) string { return contextKey(id) + "app/" }

func clusterKey(id, app, cluster string) string {
	return appsKey(id) + app + "/cluster/" + cluster + "/"
}

func orderKey(id, app, cluster string) string { return clusterKey(id, app, cluster) + orderLevel }

func resourceKey(id, app, cluster, resource string) string {
	return clusterKey(id, app, cluster) + "resource/" + resource + "/"
}

// level is a key below a context's: the app and the cluster that it is about,
// if any, and what follows them.
type level struct{ app, cluster, rest string }

// levelOf takes apart what follows a context's key.
func levelOf(below string) level {
	inApp, isApp := strings.CutPrefix(below, "app/")
	app, inApp, _ := strings.Cut(inApp, "/")
	if !isApp || app == "instruction" && inApp != "" {
		return level{rest: below}
	}
	inCluster, isCluster := strings.CutPrefix(inApp, "cluster/")
	if !isCluster {
		return level{app: app, rest: inApp}
	}
	cluster, inCluster, _ := strings.Cut(inCluster, "/")
	return level{app, cluster, inCluster}
}

// resource is the name of the resource whose own key this is.
func (l level) resource() (string, bool) {
	name, below := strings.CutPrefix(l.rest, "resource/")
	name, ends := strings.CutSuffix(name, "/")
	return name, below && ends && l.cluster != "" && name != "" && !strings.Contains(name, "/")
}
