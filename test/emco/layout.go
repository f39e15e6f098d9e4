package emco

import "strings"

// The keys of a context. Every key ends in a slash.
const (
	contextsPrefix = "/context/"
	activePrefix   = "/activecontext/"

	metaLevel             = "meta/"
	statusLevel           = "status/"         // of a context, a cluster of an app, and a resource
	statusContextLevel    = "statusappctxid/" // which context has the statuses, after an update
	stopLevel             = "stopflag/"
	currentStateLevel     = "rsync/state/CurrentState/"
	desiredStateLevel     = "rsync/state/DesiredState/"
	pendingTerminateLevel = "rsync/state/PendingTerminateFlag/"
	queueLevel            = "rsync/AppContextEventQueue/"

	groupLevel          = "!@#metaGrp/"     // of a cluster of an app: its placement group
	readyLevel          = "readystatus/"    // of a cluster of an app: is the cluster there
	referenceLevel      = "reference/"      // of a cluster of an app, and a resource: the context it was applied from
	resourcesReadyLevel = "resourcesready/" // of a cluster of an app: are all workloads ready
	resourceReadyLevel  = "resready/"       // of a resource
	resourcesLevel      = "resource/"
	orderLevel          = "instruction/order/"
	dependencyLevel     = "instruction/dependency/"
)

func contextKey(id string) string { return contextsPrefix + id + "/" }

func metaKey(id string) string { return contextKey(id) + metaLevel }

func appsKey(id string) string { return contextKey(id) + "app/" }

func appKey(id, app string) string { return appsKey(id) + app + "/" }

func clustersKey(id, app string) string { return appKey(id, app) + "cluster/" }

func clusterKey(id, app, cluster string) string { return clustersKey(id, app) + cluster + "/" }

func resourceKey(id, app, cluster, resource string) string {
	return clusterKey(id, app, cluster) + resourcesLevel + resource + "/"
}

// children are the names directly below a key that end there, as EMCO lists
// apps' clusters.
func children(keys map[string]string, parent string) []string {
	var names []string
	for _, key := range sortedKeys(keys) {
		name, isBelow := strings.CutPrefix(key, parent)
		if isBelow && strings.Count(name, "/") == 1 {
			names = append(names, strings.TrimSuffix(name, "/"))
		}
	}
	return names
}
