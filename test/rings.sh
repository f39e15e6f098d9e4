#!/usr/bin/env bash
#
# Runs one ring of the tests, and says at its end what was not run and why:
#
#   rings.sh test     Go, make, git and curl are enough; minutes
#   rings.sh real     on real API servers, DNS servers and stores; a sample of the long searches
#   rings.sh deep     everything at length; hours
#
# "make test", "make test-real" and "make test-deep" call it. A group of tests
# that fails does not keep the others from running. With SIGNPOST_REQUIRE_ALL=1
# a program that is missing is a failure. TEST_FLAGS has further flags for go
# test. The results are kept as JSON in $SIGNPOST_TEST_LOGS, by default
# signpost/tests in the user's cache; "make test-times" reads them.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly ROOT=$PWD

readonly RING=${1:?which ring: test, real or deep}
readonly LOGS=${SIGNPOST_TEST_LOGS:-${XDG_CACHE_HOME:-$HOME/.cache}/signpost/tests}
readonly MEMORY=/dev/shm
readonly ROOM=4 # GiB for the files of a run

# Packages of the module test that need Go alone.
readonly PLAIN=(./apiserver ./story ./tools/... ./e2e/wait ./e2e/process ./faults/link ./tenants ./simulate ./simulate/bugs ./mutants/...)
# Packages of the module test that are run at length only: they prove the tests'
# own harness, or how Signpost behaves under load.
readonly LONG='/(bench|load|e2e/fixture|e2e/kube|e2e/kubelet|e2e/etcd)(/|$)'
# Stories that are told at length only. Each takes a world of its own or minutes
# of waiting, and a faster test proves its promise, too.
readonly AT_LENGTH=(
	TestAnEdgeThatWasDownIsCleanedUpWhenItComesBack/after_an_update_without_it # the third of them contains both others
	'TestAnEdgeThatWasDownIsCleanedUpWhenItComesBack/after_a_terminate$'
	'TestANamePostedOverRESTResolves$'                       # test/story, and the same story over RFC 2136 and MongoDB
	TestADeadEdgeIsAbandoned                                 # TestARecordLeavesADeadHome, pkg/release
	TestAnUnreachableEdge                                    # pkg/release, I7 and I11 in test/simulate
	TestARestartWithAnUnreachableEdgeLosesNoAddress          # I11 in test/simulate
	TestKill9AnywhereConverges                               # test/faults, at chosen writes
	TestTwoInstallationsOnOneClusterLeaveEachOtherAlone      # TestStrangersObjectsAreUntouched, I4 in test/simulate
	TestAStrangersNamespaceAndDefinitionAreUsedAndUntouched  # the same
	TestTheKeyOfSecretsIsReplacedWithoutALoss/MongoDB        # over the embedded etcd, and pkg/vault on each store
	TestARollingRestartPausesNoLongerThanALease              # test/chaos, pkg/syncer
	TestTheFilesInDeployDoTheStory                           # TestANameOfAnAppThatEMCODeploysResolves
	TestFiftyContextsAtOnce TestTwoCallersOnOneContextAtOnce # api/contextupdate, pkg/emco
	TestANewServiceIsSeenWithinTheNegativeTTL                # cmd/signpost-dns/searchpath
	TestANodesCacheIsReplacedWithoutALostLookup              # cmd/signpost-dns
	TestTheClusterDNSIsRestarted                             # cmd/signpost-dns/searchpath
)

say() { printf '==> %s\n' "$*"; }

die() {
	printf 'rings: %s\n' "$*" >&2
	exit 1
}

# not_run <what> <needs>: named at once and at the end.
missing=()
not_run() {
	local line="NOT RUN	$1: it needs $2"
	[[ -z ${SIGNPOST_REQUIRE_ALL:-} ]] || die "SIGNPOST_REQUIRE_ALL lets nothing be skipped: $1 needs $2"
	missing+=("$line")
	say "$line"
}

has() { PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null; }

# older <version> <version>: the first is older than the second.
older() { [[ $1 != "$2" && $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]; }

# check_machine looks for everything that would fail after minutes.
check_machine() {
	local wanted version
	has go || die "go is not on the PATH; https://go.dev/dl has it"
	has git || die "git is not on the PATH"
	wanted=$(awk '$1 == "go" {print $2}' go.mod)
	version=$(GOTOOLCHAIN=local go env GOVERSION)
	if older "${version#go}" "$wanted" && [[ $(go env GOTOOLCHAIN) == local ]]; then
		die "go is ${version#go}, but go.mod wants $wanted or later"
	fi
	choose_directory
	local dir
	for dir in "${TMPDIR:-/tmp}" "$(go env GOCACHE)"; do
		mkdir -p "$dir" || die "$dir cannot be written"
		[[ $(free "$dir") -ge $ROOM ]] || die "$dir has $(free "$dir") GiB left, and the tests need $ROOM; free some, or set TMPDIR and GOCACHE"
	done
	if ! GOPROXY=off GOFLAGS=-mod=readonly go list -deps ./... >/dev/null 2>&1; then
		say "downloading modules"
		go mod download || die "modules are missing and cannot be downloaded: check the network and GOPROXY (go env GOPROXY)"
	fi
}

# free <directory>: GiB left.
free() { df -Pk "$1" | awk 'NR == 2 {print int($4 / 1048576)}'; }

# choose_directory puts the files of tests into memory, if there is room: servers
# flush theirs often, which a slow disk makes seconds of.
choose_directory() {
	[[ -z ${TMPDIR:-} ]] || return 0
	if [[ -w $MEMORY && $(free $MEMORY) -ge $ROOM ]] && ! findmnt -no OPTIONS $MEMORY 2>/dev/null | grep -qw noexec; then
		TMPDIR=$(mktemp -d $MEMORY/signpost.XXXXXX)
		trap 'rm -rf "$TMPDIR"' EXIT
		export TMPDIR
	else
		say "$MEMORY does not have $ROOM GiB: the tests' files are in /tmp, which may be slower"
	fi
}

# look_around names what this ring cannot run here.
skipped='^$' # packages that are left out
look_around() {
	has gcc || not_run "the race detector" "a C compiler (Debian: gcc libc6-dev)"
	if ! has named || ! has nsupdate; then
		not_run "stories with BIND: test/e2e, test/orchestrate, test/verify" "bind9 and bind9-dnsutils"
		skipped+='|/(e2e|e2e/dns|orchestrate|verify|ssa)$'
	fi
	if ! has docker-compose; then
		not_run "docker-compose.yml: test/deploy" "docker-compose"
		skipped+='|/deploy$'
	fi
	if ! has node || ! has npm; then
		not_run "the TypeScript client" "nodejs 18 or later and npm"
	fi
	if ! unshare --user --map-root-user --net true 2>/dev/null; then
		not_run "resolvers on machines of their own: test/autopath, test/glibc" "user namespaces"
		skipped+='|/(autopath|glibc)$'
	fi
}

# build_tools <name…>: the programs that the tests run, unless they are cached.
build_tools() { (cd test && go run -buildvcs=false ./tools/cmd/buildtools "$@"); }

tool() { (cd test && go run -buildvcs=false ./tools/cmd/buildtools --print "$1"); }

# group <name> <command…>: times it; the others run also after it failed.
failed=() times=()
group() {
	local name=$1 start=$SECONDS status=ok
	shift
	say "$name"
	"$@" || { status=FAILED; failed+=("$name"); }
	times+=("$(printf '%-8s%5d s  %s' $status $((SECONDS - start)) "$name")")
}

# tests <log> <directory> <arguments of go test…>
tests() {
	local log=$LOGS/$RING-$1.json dir=$2
	shift 2
	# shellcheck disable=SC2086 # flags are words
	(cd "$dir" && "$GOTESTSUM" --format pkgname-and-test-fails --format-hide-empty-pkg --hide-summary=skipped \
		--jsonfile "$log" -- "$@" ${TEST_FLAGS:-})
}

# packages <pattern of what is left out>: those of the module test.
packages() { (cd test && go list ./... | grep -Ev "$1"); }

# concurrent are the packages of the product that start goroutines.
concurrent() { git grep -lE '^\s+go [a-z]|\.Go\(' -- 'api/*.go' 'cmd/signpost/*.go' 'pkg/*.go' ':!*_test.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|'; }

ring_test() {
	build_tools etcd coredns external-dns-coredns >"$LOGS/tools.log" 2>&1 & # beside tests that need none of them
	local tools=$!
	group "unit tests" tests unit . -timeout 10m ./...
	group "signpost-dns" tests dns cmd/signpost-dns -timeout 10m ./...
	wait $tools || { cat "$LOGS/tools.log"; die "the programs of the main story could not be built"; }
	group "main story, simulator, tenants" tests plain test -timeout 10m "${PLAIN[@]}"
}

# The programs are built once for all tests. The tests of the test module are
# not cached: go test does not see what they run.
prepare_real() {
	make build
	export SIGNPOST_PROGRAMS=$ROOT/bin
	export SIGNPOST_SEED=${SIGNPOST_SEED:-$(git rev-list --count HEAD 2>/dev/null || echo 1)}
	say "SIGNPOST_SEED=$SIGNPOST_SEED repeats what is drawn by chance"
}

real_modules() {
	local dir
	for dir in test/flagparse/v0.20 test/flagparse/v0.21 test/flagparse/v0.22 test/kubelet test/monitoring; do
		group "$dir" tests "$(basename "$dir")" $dir -timeout 10m ./...
	done
	if has node && has npm; then
		group "TypeScript client" env SIGNPOST_PROGRAM="$ROOT/bin/signpost" test/typescript/run.sh
	fi
}

ring_real() {
	export SIGNPOST_RING=2
	look_around
	group "programs" prepare_real
	group "tools" build_tools etcd etcdctl ferretdb coredns external-dns-stories kube-apiserver coredns-full oasdiff
	real_modules
	group "stories on real parts" tests real test -count=1 -p 2 -timeout 25m \
		-skip "$(IFS='|'; echo "${AT_LENGTH[*]}")" $(packages "$LONG|$skipped|/tools")
	if has gcc; then # it looks at what happens at once, not at many cases one after the other
		SIGNPOST_RING=1 group "race detector" tests race . -race -timeout 20m -skip 'TestTenThousandLongNamesAreTakenOver|Crash|TestAPatchIsTakenBack|TestNoMeeting' $(concurrent)
	fi
}

ring_deep() {
	export SIGNPOST_RING=3 SIGNPOST_TOOLS_WHOLE=1
	look_around
	group "programs" prepare_real
	group "tools" build_tools
	real_modules
	group "all unit tests, with the race detector" tests race . -race -count=1 -timeout 60m ./...
	group "signpost-dns" tests dns cmd/signpost-dns -count=1 -timeout 60m ./...
	group "everything on real parts" tests real test -count=1 -p 1 -timeout 6h $(packages "$skipped")
	group "server-side apply beside Flux" tests ssa test/ssa -count=1 -timeout 30m ./...
	group "known bugs in the simulator" tests bugs test -count=1 -timeout 2h -tags bugs -run TestEachBugIsFound ./simulate/bugs
	group "planted faults" make test-mutants
	group "fuzzing" make fuzz
}

summary() {
	local line
	say "summary of ring $RING"
	printf '%s\n' "${times[@]}"
	grep -hoE 'NOT RUN: [^"\\]*' "$LOGS/$RING"-*.json 2>/dev/null | sort | uniq -c | sed 's/^ *\([0-9]*\) NOT RUN: \(.*\)/NOT RUN\t\1 tests: \2/' || true
	for line in ${missing[@]+"${missing[@]}"}; do printf '%s\n' "$line"; done
	[[ ${#failed[@]} -eq 0 ]] || die "failed: ${failed[*]}"
}

mkdir -p "$LOGS"
rm -f "$LOGS/$RING"-*.json
export GOGC=${GOGC:-400} # many small processes: memory is there, time is not
check_machine
GOTESTSUM=$(tool gotestsum)
case $RING in
test) ring_test ;;
real) ring_real ;;
deep) ring_deep ;;
*) die "no ring $RING: test, real or deep" ;;
esac
summary
