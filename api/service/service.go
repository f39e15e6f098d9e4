// Package service has the contracts of what the API asks of Signpost.
package service

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/dns/resolvconf"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Admitter judges, stores and shows documents; an *admission.Admitter is one.
type Admitter interface {
	Admit(ctx context.Context, path intent.Path, body []byte, old *intent.Document) (*review.Write, error)
	Put(ctx context.Context, write *review.Write) (intent.Document, error)
	Delete(ctx context.Context, path intent.Path, condition intent.Condition) error
	View(ctx context.Context, doc intent.Document) (review.View, error)
	Views(ctx context.Context, docs []intent.Document) ([]review.View, error)
	PreviewPodDNS(ctx context.Context, path intent.Path, body []byte) (resolvconf.Preview, error)
}

// Draft judges documents that are laid over the stored ones, in memory. Nothing of it is
// stored.
type Draft struct {
	Store    intent.Store
	Admitter Admitter
	Planner  Planner
}

// Planner tells what would be done. Its methods are those of Lifecycle.
type Planner interface {
	Plan(ctx context.Context, owner intent.Path, action intent.Action, to int64) (intent.Plan, error)
	PlanRecord(ctx context.Context, record intent.Path, adopt string) (intent.Plan, error)
	PlanName(ctx context.Context, name intent.Path, r intent.NameRequest) (intent.Plan, error)
}

// Sealer keeps secret values apart from the documents that they belong to.
type Sealer interface {
	// Store encrypts and stores a value and answers the id under which it is
	// found. path and field tell where it belongs.
	Store(ctx context.Context, path intent.Path, field string, value []byte) (id string, err error)
}

// Lifecycle deploys what the documents say: deployment intent groups, and the
// cluster DNS of logical clouds. Its errors are *intent.Error values. NotFound: the
// owner does not exist. Conflict: the action cannot be done, for the plan's errors.
// PreconditionFailed: the plan has another token now than confirm.
type Lifecycle interface {
	Names

	// Draft returns what judges documents that are not stored.
	Draft() Draft

	// Plan returns what an action on an owner would do. The empty action is
	// instantiate if nothing is current, else update. to is the revision of a
	// rollback, 0 for the one before the current.
	Plan(ctx context.Context, owner intent.Path, action intent.Action, to int64) (intent.Plan, error)
	// Instantiate, Update, Rollback and Terminate begin the action. confirm is
	// a plan's token, empty for none; actor is who asks. Terminate is a Conflict
	// for what an orchestrator has in the clusters, unless forced.
	Instantiate(ctx context.Context, owner intent.Path, confirm, actor string) (intent.Accepted, error)
	Update(ctx context.Context, owner intent.Path, confirm, actor string) (intent.Accepted, error)
	// Deploy instantiates or updates an owner as needed, in any state. The answer says
	// which, or that nothing had to be done.
	Deploy(ctx context.Context, owner intent.Path, r intent.DeployRequest) (intent.Deployed, error)
	// PlanTakeover and TakeOver are Plan, and Instantiate or Update, of a
	// deployment intent group that takes over the names of another group of the
	// project. The other group is given by its name, app/version/name, or path.
	PlanTakeover(ctx context.Context, owner intent.Path, action intent.Action, from string) (intent.Plan, error)
	TakeOver(ctx context.Context, owner intent.Path, action intent.Action, from, confirm, actor string) (intent.Accepted, error)
	Rollback(ctx context.Context, owner intent.Path, to int64, confirm, actor string) (intent.Accepted, error)
	Terminate(ctx context.Context, owner intent.Path, force bool, confirm, actor string) (intent.Accepted, error)
	// Record returns a context whose reads are noted. The reads are nil if they cannot be.
	Record(ctx context.Context) (context.Context, Reads)
	// Status answers what was observed of an owner.
	Status(ctx context.Context, owner intent.Path) (intent.Status, error)
	// Groups returns a page of the deployment intent groups of a project. Its errors: NotFound
	// without the project, Invalid for an after that no page had.
	Groups(ctx context.Context, project intent.Path, limit int, after string) (intent.GroupSummaryPage, error)
	// Events lists what happened to it and to what is below it, oldest first.
	Events(ctx context.Context, owner intent.Path) ([]intent.Event, error)

	// PlanRecord tells what UpdateRecord would do.
	PlanRecord(ctx context.Context, record intent.Path, adopt string) (intent.Plan, error)
	// UpdateRecord rolls a record's document out to its deployments. adopt is the owner id of
	// another external-dns whose names it takes over, empty for none.
	UpdateRecord(ctx context.Context, record intent.Path, adopt, confirm, actor string) (intent.Accepted, error)
	// DeployRecord is UpdateRecord for a record that is in use, and does
	// nothing for another one.
	DeployRecord(ctx context.Context, record intent.Path, r intent.DeployRequest) (intent.Deployed, error)
	// RecordStatus answers what is known of a record's deployments. The
	// warnings, which follow from its document, are left out.
	RecordStatus(ctx context.Context, record intent.Path) (intent.RecordStatus, error)
	// NameWarnings tells which host names of a stored DNS intent a plan would
	// refuse now.
	NameWarnings(ctx context.Context, dnsIntent intent.Path) ([]intent.Warning, error)
	// Users lists who publishes through a record.
	Users(ctx context.Context, record intent.Path, limit int, after string) (intent.UsePage, error)
	// Unmanaged lists what the zones of a provider have that nobody publishes. Conflict for zones
	// that cannot be read.
	Unmanaged(ctx context.Context, record intent.Path, limit int, after string) (intent.UnmanagedPage, error)
}

// Reads are what an answer followed from.
type Reads interface {
	Unchanged(ctx context.Context) (bool, error) // whether the same reads would give the same now
	Size() int                                   // how many keys were read
}

// Names publishes names. Its errors are *intent.Error values, as those of Lifecycle;
// Forbidden for an editor whose project does not let editors publish.
type Names interface {
	// ReadAhead returns a context for a request of a name. All that it reads is of one time, until it writes or end is called.
	ReadAhead(ctx context.Context, name intent.Path) (_ context.Context, end func(), err error)
	// PlanName tells what PublishName would do.
	PlanName(ctx context.Context, name intent.Path, r intent.NameRequest) (intent.Plan, error)
	// PublishName stores a name and its release, both or neither.
	PublishName(ctx context.Context, name intent.Path, r intent.NameRequest) (intent.NamePublished, error)
	// UnpublishName begins to take a name out of DNS; its document goes with it.
	UnpublishName(ctx context.Context, name intent.Path, r intent.NameRequest) (intent.Accepted, error)
	// NameReport answers what is known of a name.
	NameReport(ctx context.Context, name intent.Path) (intent.NameReport, error)
	// Fleet returns how clusters and external-dns do, and the sums of names. Its errors are
	// those of FindNames.
	Fleet(ctx context.Context, query intent.FleetQuery) (intent.Fleet, error)
	// Troubles returns what keeps names and objects from being as they are wanted. Its errors
	// are those of FindNames.
	Troubles(query intent.TroubleQuery) (intent.TroublePage, error)
	// FindNames returns names of all owners and projects. Its errors: Invalid for an After
	// that no page had, Unavailable while it is not known which names there are.
	FindNames(query intent.NameQuery) (intent.NamePage, error)
	// ExplainName returns all that a caller may know of a host name. sees tells which
	// projects the caller may read. Its errors: NotFound if no project publishes the host
	// name, Unavailable while it is not known which do.
	ExplainName(ctx context.Context, host string, sees func(project string) bool) (intent.NameExplanation, error)
}

// History keeps what has happened.
type History interface {
	// Wrote notes a write of a document by the actor of the context. A new document has
	// no before, a deleted one no after.
	Wrote(ctx context.Context, before, after *intent.Document)
	// Page returns events of a project or a cluster provider and of all below it, the
	// newest first. A page begins where the last one ended: after, empty for the first. Its
	// errors are *intent.Error values: NotFound; Invalid for an after that no page had.
	Page(ctx context.Context, top intent.Path, limit int, after string) (intent.EventPage, error)
	// All returns events of all projects that may be read, and of cluster providers if the
	// empty project may be, as Page does.
	All(ctx context.Context, reads func(project string) bool, limit int, after string) (intent.EventPage, error)
	// Follow delivers events behind an id, 0 for those from now on, and returns the id that it
	// begins behind. Its errors are *intent.Error values: Invalid; Gone for an id that is too old.
	Follow(ctx context.Context, after int64) (<-chan intent.FollowedEvent, int64, error)
	// Reached returns the newest id behind which nothing is missing for a follower that has
	// seen all events up to an id.
	Reached(ctx context.Context, seen int64) (int64, error)
	// OfName returns how a host name has changed in the projects that may be read, the
	// newest change first.
	OfName(ctx context.Context, host string, reads func(project string) bool) ([]intent.NameTurn, error)
}

// Clusters is what can be asked of clusters, and done to them, beyond their
// documents. Its errors are *intent.Error values; NotFound when the cluster is
// not registered.
type Clusters interface {
	Failovers

	// Preflight tells whether the cluster could be managed, and changes
	// nothing. That it cannot be reached is an answer.
	Preflight(ctx context.Context, cluster intent.Path) (intent.Preflight, error)
	// Services returns a page of the Services that the cluster has now. Invalid for an
	// After that no recent page had, Unavailable if the cluster does not answer.
	Services(ctx context.Context, cluster intent.Path, q intent.ServiceQuery) (intent.ServicePage, error)
	// Drain keeps the cluster's addresses out of public names, Undrain lets
	// them in again; both are idempotent. Drain is a Conflict when a name
	// would be left without any address, unless forced.
	Drain(ctx context.Context, cluster intent.Path, o intent.DrainOptions) error
	Undrain(ctx context.Context, cluster intent.Path, o intent.DrainOptions) error
	// Abandon drains a cluster that never comes back, stops serving it, and returns the
	// objects that stay there. It is idempotent, as Drain.
	Abandon(ctx context.Context, cluster intent.Path, force bool, actor string) ([]intent.LeftBehind, error)
	// Abandoned says since when a cluster is abandoned, nil when it is not.
	Abandoned(ctx context.Context, cluster intent.Path) (*intent.Abandoned, error)
	// Drained says since when a cluster is drained, nil when it is not.
	Drained(ctx context.Context, cluster intent.Path) (*intent.Drained, error)
}

// Failovers moves traffic between clusters. Its errors are *intent.Error values.
type Failovers interface {
	// PreviewFailover tells what FailOver would do.
	PreviewFailover(ctx context.Context, spec intent.FailoverSpec, o intent.FailoverOptions) (intent.FailoverPreview, error)
	// FailOver drains and undrains clusters in one step. It is Invalid for an empty set,
	// Conflict with all reasons that forbid it, and PreconditionFailed if the token is of
	// another preview.
	FailOver(ctx context.Context, spec intent.FailoverSpec, o intent.FailoverOptions) (intent.FailoverRecord, error)
	// PreviewRevert and Revert are the same for what undoes a failover.
	PreviewRevert(ctx context.Context, id string, o intent.FailoverOptions) (intent.FailoverPreview, error)
	Revert(ctx context.Context, id string, o intent.FailoverOptions) (intent.FailoverRecord, error)
	// Failover returns a record, and Failovers a page of them. Invalid for an after that no
	// page had.
	Failover(ctx context.Context, id string) (intent.FailoverRecord, error)
	Failovers(ctx context.Context, limit int, after string) (intent.FailoverPage, error)
	// SafetyRules returns the rules of the installation, and their revision.
	SafetyRules(ctx context.Context) (intent.SafetyRules, int64, error)
	PutSafetyRules(ctx context.Context, rules intent.SafetyRules, actor string) error
}

// Corefiles judges configurations of CoreDNS. Its errors are *intent.Error
// values.
type Corefiles interface {
	// Lint answers the findings about a Corefile in the order of its lines. It is
	// a Conflict when there is nothing here to lint with.
	Lint(ctx context.Context, text string) ([]corefile.Finding, error)
	// Trace returns the way of a query through the CoreDNS of a DNS CR intent in one
	// cluster, "provider+cluster". An empty cluster is one whose domain is cluster.local.
	Trace(ctx context.Context, owner intent.Path, cluster string, query corefile.Query) (corefile.Way, error)
}

// NoHistory is the History that keeps nothing.
type NoHistory struct{}

// Wrote implements History.
func (NoHistory) Wrote(context.Context, *intent.Document, *intent.Document) {}

// Page implements History.
func (NoHistory) Page(context.Context, intent.Path, int, string) (intent.EventPage, error) {
	return intent.EventPage{Items: []intent.Event{}}, nil
}

// OfName implements History.
func (NoHistory) OfName(context.Context, string, func(string) bool) ([]intent.NameTurn, error) {
	return nil, nil
}

// All implements History.
func (NoHistory) All(context.Context, func(string) bool, int, string) (intent.EventPage, error) {
	return intent.EventPage{Items: []intent.Event{}}, nil
}

// Follow implements History: nothing ever happens.
func (NoHistory) Follow(context.Context, int64) (<-chan intent.FollowedEvent, int64, error) {
	none := make(chan intent.FollowedEvent)
	close(none)
	return none, 1, nil
}

// Reached implements History.
func (NoHistory) Reached(_ context.Context, seen int64) (int64, error) { return seen, nil }
