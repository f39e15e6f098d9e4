# What the tests need of a machine. Whatever would make them fail after minutes
# is told in one line at the start. rings.sh sources it in the repository's root.

readonly MEMORY=/dev/shm
readonly ROOM=4                            # GiB for the files of a run
readonly MODULES=(. test cmd/signpost-dns) # those that every ring compiles

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

# free <directory>: GiB left.
free() { df -Pk "$1" | awk 'NR == 2 {print int($4 / 1048576)}'; }

# namespaces tells whether a user may have them here.
namespaces() { unshare --user --map-root-user --net true 2>/dev/null; }

# check_machine <directory of logs>
check_machine() {
	[[ -n ${HOME:-} ]] || die "HOME is not set, below which go keeps what it builds"
	check_go
	choose_directory
	writable "$1" "set SIGNPOST_TEST_LOGS"
	local dir
	for dir in "$TMPDIR" "${GOTMPDIR:-$TMPDIR}"; do
		roomy "$dir" "set TMPDIR, or GOTMPDIR"
		runs "$dir" || die "no program can be run in $dir (is it mounted noexec?); set TMPDIR, or GOTMPDIR"
	done
	roomy "$(go env GOCACHE)" "set GOCACHE"
	check_modules
}

# check_go: a go that is older than go.mod wants fetches another one by itself,
# unless it is too old for that, or not allowed to, or cannot reach anybody.
check_go() {
	local wanted version
	has go || die "go is not on the PATH; https://go.dev/dl has it"
	has git || die "git is not on the PATH"
	wanted=$(awk '$1 == "go" {print $2}' go.mod)
	version=$(go env GOVERSION 2>&1) || die "go.mod wants go $wanted, and the go that is here does not fetch it: ${version##*$'\n'}"
	version=${version#devel }
	version=${version#go}
	! older "${version%% *}" "$wanted" || die "go is $version, but go.mod wants $wanted or later; https://go.dev/dl has it"
}

# choose_directory puts the files of tests into memory, if there is room: servers
# flush theirs often, which a slow disk makes seconds of.
choose_directory() {
	[[ -z ${TMPDIR:-} ]] || return 0
	TMPDIR=/tmp
	if [[ -d $MEMORY && -w $MEMORY && $(free $MEMORY) -ge $ROOM ]] && runs $MEMORY; then
		TMPDIR=$(mktemp -d $MEMORY/signpost.XXXXXX)
		trap 'rm -rf "$TMPDIR"' EXIT
	else
		say "$MEMORY has no $ROOM GiB for programs and files: those of the tests are in /tmp, which may be slower"
	fi
	export TMPDIR
}

# writable <directory> <what would do>
writable() { mkdir -p "$1" 2>/dev/null && [[ -w $1 ]] || die "$1 cannot be written; $2"; }

# roomy <directory> <what would do>
roomy() {
	writable "$@"
	[[ $(free "$1") -ge $ROOM ]] || die "$1 has $(free "$1") GiB left, and the tests need $ROOM; free some, or $2"
}

# runs <directory>: a program in it can be run.
runs() {
	local program=$1/signpost-runs.$$ status=0
	printf '#!/bin/sh\n' >"$program" && chmod +x "$program" && "$program" 2>/dev/null || status=1
	rm -f "$program"
	return $status
}

# check_modules downloads what is missing of the modules.
check_modules() {
	local module said
	for module in "${MODULES[@]}"; do
		if ! (cd "$module" && GOPROXY=off go list -deps -test ./... >/dev/null 2>&1); then
			say "downloading the modules of $module"
			said=$(cd "$module" && go list -deps -test ./... 2>&1 >/dev/null) || die \
				"not all modules of $module are here, and they cannot be downloaded; check the network and GOPROXY: $(grep -v '^go: downloading' <<<"$said" | head -n 1)"
		fi
	done
}

# build_tools <name…>: the programs that the tests run, unless they are cached.
build_tools() { (cd test && go run -buildvcs=false ./tools/cmd/buildtools "$@"); }

tool() { build_tools --print "$1"; }

# check_tools <name…>: what is not built yet needs the network, perhaps. Without
# one it is built now, to fail now.
check_tools() {
	local unbuilt
	unbuilt=$(build_tools --missing "$@")
	[[ -n $unbuilt ]] || return 0
	say "to be built, once on this machine:" $unbuilt
	online || build_tools $unbuilt || die "these cannot be built without their modules: $(echo $unbuilt); check the network and GOPROXY"
}

# online tells whether a small module can be had from where modules come from.
online() {
	local dir module status=0
	module=$(awk '$1 == "github.com/stretchr/testify" {print $1 "@" $2}' go.mod)
	dir=$(mktemp -d "$TMPDIR/signpost-online.XXXXXX")
	(cd "$dir" && GOMODCACHE=$dir GOFLAGS="-mod=mod -modcacherw" timeout 20 go list -m "$module" >/dev/null 2>&1) || status=1
	rm -rf "$dir"
	return $status
}

# look_around names what the rings on real parts cannot run here.
skipped='^$' # packages that are left out
look_around() {
	has gcc || not_run "the race detector" "a C compiler (Debian: gcc libc6-dev)"
	if ! has named || ! has nsupdate; then
		not_run "stories with BIND: test/e2e, test/orchestrate, test/verify" "bind9 and bind9-dnsutils"
		skipped+='|/(e2e|e2e/dns|orchestrate|verify|ssa)$'
	fi
	has buildah || not_run "an image from scratch: test/deploy" "buildah"
	if ! has docker-compose; then
		not_run "docker-compose.yml: test/deploy" "docker-compose"
		skipped+='|/deploy$'
	fi
	if ! has node || ! has npm; then
		not_run "the TypeScript client and the console" "nodejs 20 or later and npm"
	fi
	if ! namespaces; then
		not_run "resolvers on machines of their own: test/autopath, test/glibc" "user namespaces"
		skipped+='|/(autopath|glibc)$'
	fi
}
