package architecture

import "slices"

// leaf is a package that knows the standard library, the packages named here,
// and nothing else.
type leaf struct {
	name   string
	knows  []string
	reason string
}

func leaves() []leaf {
	return []leaf{
		{"pkg/domain/intent", nil, "the domain's shapes, errors and store contract: everybody speaks them, they know nobody"},
		{"pkg/access", []string{"pkg/access/bounded", "pkg/domain/intent", "pkg/domain/safeyaml", "pkg/access/throttle", "github.com/go-jose/go-jose/v4", "github.com/go-jose/go-jose/v4/jwt", "github.com/prometheus/client_golang/prometheus", "golang.org/x/sync/singleflight", "sigs.k8s.io/json"}, "who asks and what they may do follows from what a caller shows; what is asked for is others' business"},
		{
			"pkg/tracing",
			[]string{"go.opentelemetry.io/otel/attribute", "go.opentelemetry.io/otel/codes", "go.opentelemetry.io/otel/propagation", "go.opentelemetry.io/otel/trace"},
			"traces and log lines may be followed everywhere; where they go is for pkg/app to say",
		},
		{"pkg/domain/bundle", []string{"sigs.k8s.io/json"}, "objects as bytes with an identity: neither Kubernetes' types nor a store"},
		{"pkg/domain/fault", nil, "failed requests, whoever made them"},
		{"pkg/domain/nearest", nil, "edit distance"},
		{"pkg/domain/redact", nil, "texts of errors, whoever made them"},
		{"pkg/domain/safeyaml", []string{"go.yaml.in/yaml/v3", "sigs.k8s.io/yaml"}, "texts of YAML, whoever wrote them"},
		{"pkg/dns/corefile", []string{"pkg/dns/autopath"}, "a configuration is a function of typed values; whether CoreDNS takes it is proven with CoreDNS, which stays out of the product's module"},
		{"pkg/dns/autopath", nil, "what plugins of CoreDNS and the product agree on"},
		{"pkg/domain/podspec", nil, "where pods are in a manifest"},
		{"pkg/access/throttle", []string{"golang.org/x/sync/semaphore", "golang.org/x/time/rate"}, "tokens, places and memory, whoever they are for"},
		{"pkg/access/bounded", []string{"golang.org/x/time/rate"}, "what an answer may cost, whoever asked"},
		{"pkg/dns/resolvconf", []string{"pkg/dns/autopath", "pkg/domain/intent"}, "what kubelet and glibc do, compared with both by tests, without either in the product's module"},
		{"pkg/dns/linter", []string{"pkg/dns/corefile", "pkg/domain/intent"}, "a program is run and its answer read, nothing more"},
		{"pkg/dns/noderesolver", nil, "a file of the node and a nameserver, and nothing of Signpost's"},
		{"pkg/storage/seal", nil, "encryption knows no store; pkg/storage/vault brings the two together"},
		{
			"pkg/dns/externaldns",
			[]string{"pkg/domain/nearest", "golang.org/x/net/idna"},
			"the flag table is proven against external-dns' own parsers in modules of their own, and must not drag external-dns in",
		},
		{"pkg/dns/rdata", []string{"github.com/miekg/dns"}, "what a record says follows from it alone"},
		{"pkg/dns/verify", []string{"pkg/dns/externaldns", "pkg/dns/rdata", "pkg/domain/intent", "pkg/storage/recent", "github.com/miekg/dns", "golang.org/x/time/rate"}, "servers are asked, and their answers judged; who asks, and what for, is others' business"},
		{"pkg/domain/hostname", []string{"golang.org/x/net/idna"}, "which names a template makes follows from the values alone"},
		{"pkg/domain/address", []string{"pkg/domain/intent"}, "which address is published follows from observations alone"},
		{
			"pkg/domain/source",
			[]string{"pkg/domain/address", "k8s.io/api/core/v1", "k8s.io/api/discovery/v1", "k8s.io/api/networking/v1", "k8s.io/apimachinery/pkg/apis/meta/v1", "k8s.io/apimachinery/pkg/runtime"},
			"the addresses of an object follow from the object alone, whether a cluster or a manifest has it",
		},
		{
			"pkg/domain/placement",
			[]string{"pkg/domain/intent", "github.com/go-logr/logr", "k8s.io/api/core/v1", "k8s.io/apimachinery/pkg/apis/meta/v1", "k8s.io/component-helpers/scheduling/corev1", "k8s.io/component-helpers/scheduling/corev1/nodeaffinity"},
			"which nodes suit follows from the nodes and Kubernetes' own functions alone",
		},
		{"pkg/storage/kv", nil, "the narrow edge to etcd, without etcd"},
		{"pkg/plan", []string{"pkg/domain/intent", "pkg/domain/bundle"}, "frozen shapes; the renderers below it bring Kubernetes in"},
		{"pkg/storage/appcontext", []string{"pkg/domain/bundle", "pkg/dns/externaldns", "pkg/domain/intent", "pkg/storage/kv", "pkg/storage/recent", "pkg/storage/snapshot", "pkg/domain/placement", "pkg/tracing", "golang.org/x/sync/errgroup"}, "EMCO's layout over any KV, written a few chunks at a time and read together from one that has snapshots"},
		{"pkg/publisher", []string{"pkg/dns/externaldns", "pkg/domain/fault"}, "how names are written to DNS, whoever decides which"},
		{"pkg/publisher/guard", []string{"pkg/domain/fault", "pkg/publisher"}, "which servers may be dialled follows from rules and addresses alone"},
		{"pkg/publisher/marks", []string{"pkg/dns/externaldns", "pkg/domain/fault", "pkg/publisher"}, "whose a record is follows from its mark alone"},
		{"pkg/storage/backup", []string{"pkg/domain/intent", "pkg/storage/kv"}, "what is kept, over any KV, and records as bytes"},
		{"pkg/emco", []string{"pkg/domain/address", "pkg/domain/bundle", "pkg/domain/intent", "pkg/domain/safeyaml", "pkg/storage/kv"}, "contexts that EMCO has written, over any KV"},
		{"pkg/storage/eventfeed", []string{"pkg/domain/intent", "pkg/storage/kv"}, "events as they happen, over any KV"},
		{"pkg/storage/history", []string{"pkg/domain/intent", "pkg/storage/snapshot", "golang.org/x/sync/errgroup"}, "what happened, over any document store; what a request has read before counts"},
		{"pkg/storage/namehistory", []string{"pkg/domain/intent"}, "how names changed, over any document store"},
		{"pkg/release/ownership/nameclaim", []string{"pkg/domain/intent", "pkg/storage/kv"}, "whose a name is follows from claims and from how their groups stand, over any KV"},
		{"pkg/storage/ledger", []string{"pkg/domain/bundle", "pkg/domain/intent", "pkg/storage/kv", "pkg/storage/recent"}, "what was applied, over any KV"},
		{"pkg/storage/replicas", []string{"pkg/storage/kv", "github.com/prometheus/client_golang/prometheus"}, "who lives, over any KV"},
		{"pkg/storage/observed", []string{"pkg/domain/address", "pkg/domain/intent", "pkg/storage/kv", "pkg/storage/recent", "pkg/domain/placement"}, "what was seen, over any KV"},
		{"pkg/worker/lookup", []string{"pkg/domain/address"}, "host names are looked up, whoever offers them"},
		{"pkg/storage/documents/draft", []string{"pkg/domain/intent"}, "what both document stores do alike"},
	}
}

// ban says what packages do not know, not even over other packages of ours.
type ban struct {
	names  string
	never  []string
	reason string
}

func bans() []ban {
	world := []string{"os", "os/...", "net/http/...", "math/rand/...", "crypto/rand", "log/..."}
	stores := []string{"pkg/storage/documents/...", "pkg/storage/kv/...", "pkg/storage/appcontext", "pkg/emco", "pkg/storage/ledger", "pkg/release/ownership/nameclaim", "pkg/storage/observed", "pkg/storage/vault"}
	clients := []string{"pkg/worker/cluster/...", "pkg/client", "k8s.io/client-go/...", "go.etcd.io/...", "go.mongodb.org/..."}
	return []ban{
		{
			"pkg/plan/...",
			slices.Concat(world, stores, clients, []string{"pkg/release/...", "pkg/admission/...", "api/..."}),
			"a plan is a function of its input: the same bytes each time (I8)",
		},
		{
			"pkg/domain/address",
			slices.Concat(world, stores, clients),
			"folding is pure and may be done by any replica, and twice",
		},
		{
			"api/...",
			slices.Concat(stores, clients, []string{"pkg/plan/...", "pkg/release/...", "pkg/worker/...", "pkg/storage/seal", "pkg/app"}),
			"the edge speaks contracts; pkg/app says who keeps them",
		},
		{
			"pkg/admission/...",
			slices.Concat(stores, clients, []string{"net/http/...", "pkg/plan/...", "pkg/release/...", "pkg/worker/...", "api/..."}),
			"REST, gRPC and CLI admit a body the same way, over the store's contract",
		},
		{
			"pkg/release/...",
			[]string{"pkg/storage/documents/...", "pkg/storage/kv/etcd/...", "pkg/worker/...", "pkg/admission/...", "pkg/app", "api/...", "net/http/..."},
			"a release asks no cluster: it reads what was observed and what the ledger says",
		},
		{
			"pkg/worker/connections",
			[]string{"pkg/storage/documents/...", "pkg/storage/kv/etcd/...", "pkg/release/...", "pkg/plan/...", "pkg/admission/...", "pkg/app", "api/..."},
			"clusters are reached as their documents say, whoever asks",
		},
		{
			"pkg/worker/index",
			[]string{"pkg/storage/documents/...", "pkg/storage/kv/etcd/...", "pkg/storage/ledger", "pkg/storage/observed", "pkg/worker/...", "pkg/release/...", "pkg/plan/...", "pkg/admission/...", "pkg/app", "api/..."},
			"the current pointers are read from app contexts, whoever serves the clusters",
		},
		{
			"pkg/worker/...",
			[]string{"pkg/storage/documents/...", "pkg/storage/kv/etcd/...", "pkg/release/...", "pkg/plan/...", "pkg/admission/...", "pkg/app", "api/..."},
			"the worker pushes current contexts, whoever planned them",
		},
		{
			"pkg/emco/handover",
			[]string{"pkg/storage/documents/...", "pkg/storage/kv/etcd/...", "pkg/worker/cluster/...", "pkg/release/...", "pkg/plan/...", "pkg/emco/rsync/...", "pkg/app", "api/..."},
			"rsync reaches the clusters; what it is given was planned by others",
		},
		{
			"pkg/worker/cluster",
			[]string{"pkg/storage/documents/...", "pkg/storage/kv/...", "pkg/storage/appcontext", "pkg/storage/ledger", "pkg/release/...", "pkg/plan/...", "pkg/app", "api/..."},
			"one cluster's primitives; what to do with them is the worker's business",
		},
		{
			"pkg/client",
			[]string{"pkg/...", "api/..."},
			"programs that use the client get no server with it",
		},
	}
}

// gate says who alone imports a package. The narrowest gate that fits an
// import decides.
type gate struct {
	to     string
	open   []string
	reason string
}

func gates() []gate {
	const command, cli, app = "cmd/...", "pkg/cli/...", "pkg/app/..."
	return []gate{
		{"pkg/app", []string{command, cli}, "wiring is for programs"},
		{"pkg/client", []string{cli, "examples/..."}, "the server does not talk to itself"},
		{"api/...", []string{app, command, cli, "api/..."}, "an edge is plugged in, not called"},
		{"pkg/storage/documents/...", []string{app, "pkg/storage/documents/...", "pkg/emco/documents"}, "all others know intent.Store"},
		{"pkg/storage/kv/etcd/...", []string{app, "pkg/storage/kv/etcd/..."}, "all others know kv.KV"},
		{"pkg/worker/cluster/...", []string{app, "pkg/worker/..."}, "clusters are reached by their workers"},
		{"pkg/worker/cluster/account", []string{app, cli, "pkg/worker/..."}, "accounts are made by the person who connects a cluster, and renewed by a worker"},
		{"pkg/worker/cluster/rights", []string{cli, "pkg/worker/..."}, "the person who connects a cluster grants the rights"},

		{"go.mongodb.org/...", []string{"pkg/storage/documents/mongo"}, "behind intent.Store"},
		{"go.etcd.io/...", []string{"pkg/storage/kv/etcd/...", "pkg/publisher/coredns"}, "behind kv.KV, and where names are written into another etcd"},
		{"go.uber.org/zap/...", []string{"pkg/storage/kv/etcd/...", "pkg/publisher/coredns"}, "etcd logs with it; all others with slog"},

		{"k8s.io/...", []string{"pkg/plan/...", "pkg/worker/cluster/...", "pkg/domain/placement", "pkg/domain/source"}, "Kubernetes' structs stay in renderers, at the edge to clusters, where its own functions match nodes, and where addresses are read"},
		{"k8s.io/client-go/...", []string{"pkg/worker/cluster/..."}, "connections are made in one place"},
		{"k8s.io/client-go/util/workqueue", []string{"pkg/release/controller"}, "a queue, without anything of Kubernetes"},
		{"k8s.io/apimachinery/pkg/util/wait", []string{"pkg/release/controller"}, "loops that begin again, without anything of Kubernetes"},
		{"k8s.io/apimachinery/pkg/util/yaml", []string{"pkg/cli/document"}, "splits a YAML file, without anything of Kubernetes"},

		{"sigs.k8s.io/yaml/...", []string{"pkg/domain/safeyaml", "internal/story"}, "a small text may become a large value by aliases, which are measured in one place"},
		{"go.yaml.in/yaml/...", []string{"pkg/domain/safeyaml", "pkg/client"}, "as sigs.k8s.io/yaml; the generated client reads what its server answers"},

		{"sigs.k8s.io/external-dns/...", []string{"pkg/plan/endpoints", "pkg/plan/provider", "pkg/publisher/webhook"}, "its types are written where objects are rendered and where its protocol is spoken; nobody reads a DNSEndpoint back (ADR 0048)"},

		{"go.opentelemetry.io/...", []string{app, "pkg/tracing"}, "spans are made in one way; spans and records are exported in one place"},

		{"github.com/miekg/dns/...", []string{"pkg/dns/rdata", "pkg/dns/verify", "pkg/dns/zone", "pkg/publisher/rfc2136"}, "questions to nameservers are asked, and paced, in one place, zones are read in another, and updates are sent in a third; all of them read records alike"},

		{"google.golang.org/grpc/...", []string{app, "api/contextupdate", "pkg/emco/emcopb", "pkg/emco/rsync/...", "pkg/publisher/coredns", "pkg/storage/kv/etcd"}, "what EMCO asks and what is asked of EMCO goes through one package each; etcd's client takes its dialer as an option of it, and tells its streams apart by metadata"},
		{"pkg/emco/emcopb", []string{"api/contextupdate", "pkg/emco/rsync/..."}, "messages are read and written where the wire ends"},

		{"github.com/go-jose/...", []string{"pkg/access/..."}, "tokens are verified in one place"},

		{"github.com/gorilla/mux", []string{"api"}, "requests are routed once"},
		{"github.com/getkin/kin-openapi/...", []string{"api/...", "openapi"}, "requests are validated once"},
		{"github.com/spf13/...", []string{command, cli, app}, "flags are the program's"},

		{"testing", suites(), "no test code in the program"},
		{"github.com/stretchr/testify/...", suites(), "no test code in the program"},
	}
}

// suites are packages that tests of several packages share.
func suites() []string {
	return []string{
		"api/apitest",
		"internal/golden",
		"internal/memory",
		"internal/need",
		"internal/sample",
		"internal/seed",
		"internal/story",
		"pkg/access/accesstest",
		"pkg/worker/cluster/clustertest",
		"pkg/storage/kv/etcd/etcdtest",
		"pkg/storage/kv/kvtest",
		"pkg/emco/rsync/rsynctest",
		"pkg/storage/documents/storetest",
	}
}

// emptyNames say nothing about what is in a package.
func emptyNames() []string {
	return []string{"base", "common", "helper", "helpers", "lib", "misc", "shared", "util", "utils"}
}
