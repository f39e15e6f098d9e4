// Package emco plays an EMCO installation for tests: what its orchestrator,
// DCM, CLM, rsync and monitor do, step by step and with their timing, as far as
// a controller sees it. Nothing of EMCO runs here.
//
// What it does was read in EMCO's sources, as they stood at the end of 2022
// (github.com/satra124/emco-base-test, a copy of gitlab.com/project-emco's
// emco-base; below src/). Who changes a file here looks there again:
//
//	layout and order of the keys   orchestrator/pkg/appcontext, pkg/rtcontext, pkg/module/appContextMaker.go
//	instantiate, terminate         orchestrator/pkg/module/instantiation.go, instantiation_scheduler_helper.go
//	update, rollback               orchestrator/pkg/module/update.go
//	calls and their deadline       orchestrator/pkg/grpc/contextupdateclient, pkg/infra/config
//	REST paths                     orchestrator/api/api.go, dcm/api/api.go, clm/api/api.go
//	REST bodies                    orchestrator/pkg/module, orchestrator/common, dcm/pkg/module/keyvalue.go, clm/pkg/cluster
//	REST errors                    orchestrator/pkg/infra/apierror and apierrors.go of each service
//	installing, states, statuses   rsync/pkg/context, rsync/pkg/types, rsync/pkg/internal/utils/acutils.go
//	cluster status                 monitor/pkg/apis/k8splugin/v1alpha1, monitor/controllers, rsync/pkg/status
//	credentials, logical clouds    rsync/pkg/db/cluster.go, dcm/pkg/module/apply.go
//	a second controller            sds/internal/servicediscovery
//	emcoctl's files                tools/emcoctl/cmd
//
// Where it is simpler than EMCO: an app's file is a YAML stream and no Helm
// chart, so there are no profiles, override values and hooks other than
// crd-install; there are no placement controllers, quotas and GitOps clusters;
// the user of a logical cloud is a ServiceAccount and has no certificate, and the
// cloud has no context of its own; rsync applies on the server's side and leaves no
// last-applied-configuration; what an update deletes it deletes once it has
// applied the rest, not meanwhile, so that the keys come out the same each time;
// app dependencies are written but not waited for.
package emco
