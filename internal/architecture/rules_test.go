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
		{"pkg/intent", nil, "the domain's shapes, errors and store contract: everybody speaks them, they know nobody"},
		{"pkg/access", []string{"pkg/bounded", "pkg/intent", "pkg/throttle", "github.com/go-jose/go-jose/v4", "github.com/go-jose/go-jose/v4/jwt", "github.com/prometheus/client_golang/prometheus", "golang.org/x/sync/singleflight", "sigs.k8s.io/json", "sigs.k8s.io/yaml"}, "who asks and what they may do follows from what a caller shows; what is asked for is others' business"},
		{
			"pkg/trail",
			[]string{"go.opentelemetry.io/otel/attribute", "go.opentelemetry.io/otel/codes", "go.opentelemetry.io/otel/propagation", "go.opentelemetry.io/otel/trace"},
			"traces and log lines may be followed everywhere; where they go is for pkg/app to say",
		},
		{"pkg/bundle", nil, "objects as bytes with an identity: neither Kubernetes' types nor a store"},
		{"pkg/nearest", nil, "edit distance"},
		{"pkg/redact", nil, "texts of errors, whoever made them"},
		{"pkg/corefile", []string{"pkg/autopath"}, "a configuration is a function of typed values; whether CoreDNS takes it is proven with CoreDNS, which stays out of the product's module"},
		{"pkg/autopath", nil, "what plugins of CoreDNS and the product agree on"},
		{"pkg/podspec", nil, "where pods are in a manifest"},
		{"pkg/throttle", []string{"golang.org/x/sync/semaphore", "golang.org/x/time/rate"}, "tokens, places and memory, whoever they are for"},
		{"pkg/bounded", []string{"golang.org/x/time/rate"}, "what an answer may cost, whoever asked"},
		{"pkg/resolvconf", []string{"pkg/autopath", "pkg/intent"}, "what kubelet and glibc do, compared with both by tests, without either in the product's module"},
		{"pkg/linter", []string{"pkg/corefile", "pkg/intent"}, "a program is run and its answer read, nothing more"},
		{"pkg/noderesolver", nil, "a file of the node and a nameserver, and nothing of Signpost's"},
		{"pkg/seal", nil, "encryption knows no store; pkg/vault brings the two together"},
		{
			"pkg/externaldns",
			[]string{"pkg/nearest"},
			"the flag table is proven against external-dns' own parsers in modules of their own, and must not drag external-dns in",
		},
		{"pkg/verify", []string{"pkg/externaldns", "pkg/intent", "github.com/miekg/dns", "golang.org/x/time/rate"}, "servers are asked, and their answers judged; who asks, and what for, is others' business"},
		{"pkg/hostname", []string{"golang.org/x/net/idna"}, "which names a template makes follows from the values alone"},
		{"pkg/address", []string{"pkg/intent"}, "which address is published follows from observations alone"},
		{
			"pkg/placement",
			[]string{"pkg/intent", "github.com/go-logr/logr", "k8s.io/api/core/v1", "k8s.io/apimachinery/pkg/apis/meta/v1", "k8s.io/component-helpers/scheduling/corev1", "k8s.io/component-helpers/scheduling/corev1/nodeaffinity"},
			"which nodes suit follows from the nodes and Kubernetes' own functions alone",
		},
		{"pkg/kv", nil, "the narrow edge to etcd, without etcd"},
		{"pkg/plan", []string{"pkg/intent", "pkg/bundle"}, "frozen shapes; the renderers below it bring Kubernetes in"},
		{"pkg/appcontext", []string{"pkg/bundle", "pkg/externaldns", "pkg/intent", "pkg/kv", "pkg/placement", "pkg/trail", "golang.org/x/sync/errgroup"}, "EMCO's layout over any KV, written a few chunks at a time"},
		{"pkg/backup", []string{"pkg/intent", "pkg/kv"}, "what is kept, over any KV, and records as bytes"},
		{"pkg/emco", []string{"pkg/address", "pkg/bundle", "pkg/intent", "pkg/kv", "sigs.k8s.io/yaml"}, "contexts that EMCO has written, over any KV"},
		{"pkg/history", []string{"pkg/intent"}, "what happened, over any document store"},
		{"pkg/nameclaim", []string{"pkg/intent", "pkg/kv"}, "whose a name is follows from claims and from how their groups stand, over any KV"},
		{"pkg/ledger", []string{"pkg/bundle", "pkg/intent", "pkg/kv"}, "what was applied, over any KV"},
		{"pkg/replicas", []string{"pkg/kv", "github.com/prometheus/client_golang/prometheus"}, "who lives, over any KV"},
		{"pkg/observed", []string{"pkg/address", "pkg/intent", "pkg/kv", "pkg/placement"}, "what was seen, over any KV"},
		{"pkg/store/internal/draft", []string{"pkg/intent"}, "what both document stores do alike"},
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
	stores := []string{"pkg/store/...", "pkg/kv/...", "pkg/appcontext", "pkg/emco", "pkg/ledger", "pkg/nameclaim", "pkg/observed", "pkg/vault"}
	clients := []string{"pkg/cluster/...", "pkg/client", "k8s.io/client-go/...", "go.etcd.io/...", "go.mongodb.org/..."}
	return []ban{
		{
			"pkg/plan/...",
			slices.Concat(world, stores, clients, []string{"pkg/release", "pkg/admit", "api/..."}),
			"a plan is a function of its input: the same bytes each time (I8)",
		},
		{
			"pkg/address",
			slices.Concat(world, stores, clients),
			"folding is pure and may be done by any replica, and twice",
		},
		{
			"api/...",
			slices.Concat(stores, clients, []string{"pkg/plan/...", "pkg/release", "pkg/syncer", "pkg/status", "pkg/seal", "pkg/app"}),
			"the edge speaks contracts; pkg/app says who keeps them",
		},
		{
			"pkg/admit",
			slices.Concat(stores, clients, []string{"net/http/...", "pkg/plan/...", "pkg/release", "pkg/syncer", "api/..."}),
			"REST, gRPC and CLI admit a body the same way, over the store's contract",
		},
		{
			"pkg/release",
			[]string{"pkg/store/...", "pkg/kv/etcd/...", "pkg/cluster/...", "pkg/syncer", "pkg/admit", "pkg/app", "api/...", "net/http/..."},
			"a release asks no cluster: it reads what was observed and what the ledger says",
		},
		{
			"pkg/syncer",
			[]string{"pkg/store/...", "pkg/kv/etcd/...", "pkg/release", "pkg/plan/...", "pkg/admit", "pkg/app", "api/..."},
			"the worker pushes current contexts, whoever planned them",
		},
		{
			"pkg/handover",
			[]string{"pkg/store/...", "pkg/kv/etcd/...", "pkg/cluster/...", "pkg/release", "pkg/plan/...", "pkg/rsync/...", "pkg/app", "api/..."},
			"rsync reaches the clusters; what it is given was planned by others",
		},
		{
			"pkg/cluster",
			[]string{"pkg/store/...", "pkg/kv/...", "pkg/appcontext", "pkg/ledger", "pkg/release", "pkg/plan/...", "pkg/app", "api/..."},
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
	const command, app = "cmd/...", "pkg/app"
	return []gate{
		{"pkg/app", []string{command}, "wiring is for programs"},
		{"pkg/client", []string{command, "examples/..."}, "the server does not talk to itself"},
		{"api/...", []string{app, command, "api/..."}, "an edge is plugged in, not called"},
		{"pkg/store/...", []string{app, "pkg/store/..."}, "all others know intent.Store"},
		{"pkg/kv/etcd/...", []string{app, "pkg/kv/etcd/..."}, "all others know kv.KV"},
		{"pkg/cluster/...", []string{app, "pkg/syncer", "pkg/cluster/..."}, "clusters are reached by their workers"},

		{"go.mongodb.org/...", []string{"pkg/store/mongo"}, "behind intent.Store"},
		{"go.etcd.io/...", []string{"pkg/kv/etcd/..."}, "behind kv.KV"},
		{"go.uber.org/zap/...", []string{"pkg/kv/etcd/..."}, "etcd logs with it; all others with slog"},

		{"k8s.io/...", []string{"pkg/plan/...", "pkg/cluster/...", "pkg/placement"}, "Kubernetes' structs stay in renderers, at the edge to clusters, and where its own functions match nodes"},
		{"k8s.io/client-go/...", []string{"pkg/cluster/..."}, "connections are made in one place"},
		{"k8s.io/client-go/util/workqueue", []string{"pkg/release"}, "a queue, without anything of Kubernetes"},
		{"k8s.io/apimachinery/pkg/util/wait", []string{"pkg/release"}, "loops that begin again, without anything of Kubernetes"},
		{"k8s.io/apimachinery/pkg/util/yaml", []string{"cmd/signpost"}, "splits a YAML file, without anything of Kubernetes"},
		{"sigs.k8s.io/external-dns/...", []string{"pkg/plan/..."}, "its types, as Kubernetes' own"},

		{"go.opentelemetry.io/...", []string{app, "pkg/trail"}, "spans are made in one way, and exported in one place"},

		{"github.com/miekg/dns/...", []string{"pkg/verify"}, "questions to nameservers are asked, and paced, in one place"},

		{"google.golang.org/grpc/...", []string{app, "api/contextupdate", "pkg/emcopb", "pkg/rsync/..."}, "what EMCO asks and what is asked of EMCO goes through one package each"},
		{"pkg/emcopb", []string{"api/contextupdate", "pkg/rsync/..."}, "messages are read and written where the wire ends"},

		{"github.com/go-jose/...", []string{"pkg/access/..."}, "tokens are verified in one place"},

		{"github.com/gorilla/mux", []string{"api"}, "requests are routed once"},
		{"github.com/getkin/kin-openapi/...", []string{"api/...", "openapi"}, "requests are validated once"},
		{"github.com/spf13/...", []string{command, app}, "flags are the program's"},

		{"testing", suites(), "no test code in the program"},
		{"github.com/stretchr/testify/...", suites(), "no test code in the program"},
	}
}

// suites are packages that tests of several packages share.
func suites() []string {
	return []string{
		"api/apitest",
		"internal/golden",
		"internal/need",
		"internal/sample",
		"internal/seed",
		"internal/story",
		"pkg/access/accesstest",
		"pkg/cluster/clustertest",
		"pkg/kv/etcd/etcdtest",
		"pkg/kv/kvtest",
		"pkg/rsync/rsynctest",
		"pkg/store/storetest",
	}
}

// emptyNames say nothing about what is in a package.
func emptyNames() []string {
	return []string{"base", "common", "helper", "helpers", "lib", "misc", "shared", "util", "utils"}
}
