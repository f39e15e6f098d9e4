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
readonly LOGS=${SIGNPOST_TEST_LOGS:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/signpost/tests}

# Tests of one package at the same time. Most of those that take seconds wait:
# for a process, a disk or a deadline.
readonly AT_ONCE=6

# Packages of the module test that need Go alone.
readonly PLAIN=(./apiserver ./story ./tools/... ./machine ./e2e/wait ./e2e/process ./publisher/keys ./faults/link ./tenants ./simulate ./simulate/bugs ./mutants/... ./bench/report)
# Packages of the module test that are run at length only: they prove the tests'
# own harness, or how Signpost behaves under load.
readonly LONG='/(bench|load|e2e/fixture|e2e/kube|e2e/kubelet|e2e/etcd)(/|$)'
# Stories that are told at length only. Each takes a world of its own or minutes
# of waiting, and a faster test proves its promise, too.
readonly AT_LENGTH=(
	TestAnEdgeThatWasDownIsCleanedUpWhenItComesBack/after_an_update_without_it # the third of them contains both others
	'TestAnEdgeThatWasDownIsCleanedUpWhenItComesBack/after_a_terminate$'
	TestADeadEdgeIsAbandoned                                 # TestARecordLeavesADeadHome, pkg/release
	TestAnUnreachableEdge                                    # pkg/release, I7 and I11 in test/simulate
	TestARestartWithAnUnreachableEdgeLosesNoAddress          # I11 in test/simulate
	TestKill9AnywhereConverges                               # test/faults, at chosen writes
	TestTwoInstallationsOnOneClusterLeaveEachOtherAlone      # TestStrangersObjectsAreUntouched, I4 in test/simulate
	TestAStrangersNamespaceAndDefinitionAreUsedAndUntouched  # the same
	TestTheKeyOfSecretsIsReplacedWithoutALoss/MongoDB        # over the embedded etcd, and pkg/storage/vault on each store
	TestARollingRestartPausesNoLongerThanALease              # test/chaos, pkg/worker/syncer
	TestTheFilesInDeployDoTheStory                           # TestANameOfAnAppThatEMCODeploysResolves
	TestASnapshotHasWhatAReleaseHas                          # TestTwoDirectoriesGiveTheSamePrograms, cmd/extras
	TestTwoVersionsServeSideBySide                           # it builds the program of another commit
	TestFiftyContextsAtOnce TestTwoCallersOnOneContextAtOnce # api/contextupdate, pkg/emco
	TestANewServiceIsSeenWithinTheNegativeTTL                # cmd/signpost-dns/searchpath
	TestANodesCacheIsReplacedWithoutALostLookup              # cmd/signpost-dns
	TestAnAnswerBetweenDeleteAndPutIsFound                   # TestAChangeIsOneWriteAndReadsNoZone, pkg/publisher/coredns
	TestTheClusterDNSIsRestarted                             # cmd/signpost-dns/searchpath
)

# shellcheck source=machine/machine.sh
source test/machine/machine.sh

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
concurrent() { git grep -lE '^\s+go [a-z]|\.Go\(' -- 'api/*.go' 'pkg/*.go' ':!*_test.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|'; }

# unit_tests runs those of the product's module. Most packages wait more than they work: there is one more at a time than
# processors. The tests of pkg/release take all processors, and so they run by themselves.
unit_tests() {
	local alone status=0
	alone=$(go list ./pkg/release)
	tests unit . -p $(($(getconf _NPROCESSORS_ONLN) + 1)) -parallel $AT_ONCE -timeout 10m $(go list ./... | grep -vx "$alone") || status=1
	tests release . -parallel $AT_ONCE -timeout 10m "$alone" || status=1
	return $status
}

ring_test() {
	export GOGC=${GOGC:-400} # tests are short: collecting garbage takes a third of their time otherwise
	namespaces || say "some tests will be NOT RUN: they need user namespaces"
	build_tools "${TOOLS[@]}" >"$LOGS/tools.log" 2>&1 & # beside tests that need none of them
	local tools=$!
	group "unit tests" unit_tests
	group "signpost-dns" tests dns cmd/signpost-dns -timeout 10m ./...
	wait $tools || { cat "$LOGS/tools.log"; die "the programs of the main story could not be built"; }
	group "main story, simulator, tenants" tests plain test -timeout 10m "${PLAIN[@]}"
	group "documentation" tests site test -count=1 ./site # go test does not see the pages, which are in another module
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
	for dir in test/flagparse/v0.20 test/flagparse/v0.21 test/flagparse/v0.22 test/kubelet test/monitoring test/chart; do
		group "$dir" tests "$(basename "$dir")" $dir -timeout 10m ./...
	done
	if has node && has npm; then
		group "TypeScript client" env SIGNPOST_PROGRAM="$ROOT/bin/signpost" test/typescript/run.sh
		group "console" console/check.sh check
		group "story of the console" env SIGNPOST_PROGRAM="$ROOT/bin/signpost" test/console/run.sh
	fi
}

ring_real() {
	export SIGNPOST_RING=2
	look_around
	group "programs" prepare_real
	group "tools" build_tools "${TOOLS[@]}"
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

case $RING in # the programs that a ring runs
test) TOOLS=(gotestsum etcd coredns) ;;
real) TOOLS=(gotestsum etcd etcdctl ferretdb coredns external-dns-stories kube-apiserver coredns-full oasdiff) ;;
deep) TOOLS=() ;; # all
*) die "no ring $RING: test, real or deep" ;;
esac
check_machine "$LOGS"
rm -f "$LOGS/$RING"-*.json
export GOGC=${GOGC:-400} # many small processes: memory is there, time is not
check_tools ${TOOLS[@]+"${TOOLS[@]}"}
GOTESTSUM=$(tool gotestsum)
"ring_$RING"
summary
