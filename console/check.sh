#!/usr/bin/env bash
#
# Builds the console, or checks that what is committed is such a build:
#
#   check.sh build     builds dist/ from the sources, with types from openapi.yaml
#   check.sh check     types, unit tests, and the comparison of dist/ with a build
#   check.sh lint      ESLint, by the types of openapi.yaml
#
# Without Node 20.19 or later nothing is run, and the last line says so: NOT RUN in place
# of ok. With SIGNPOST_REQUIRE_ALL=1 that is a failure.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"

readonly NAME=github.com/signpost-dns/signpost/console

not_run() {
	if [[ -n ${SIGNPOST_REQUIRE_ALL:-} ]]; then
		printf 'FAIL\t%s\t%s\n' "$NAME" "$*"
		exit 1
	fi
	printf 'NOT RUN\t%s\t%s\n' "$NAME" "$*"
	exit 0
}

fail() {
	printf 'FAIL\t%s\t%s\n' "$NAME" "$*"
	exit 1
}

prepare() {
	command -v node >/dev/null || not_run "node is not installed; version 20.19 or later is needed"
	command -v npm >/dev/null || not_run "npm is not installed"
	node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
		not_run "node is $(node --version); version 20.19 or later is needed"
	# Installed anew only when the lock file has changed since.
	if [[ ! node_modules/.package-lock.json -nt package-lock.json ]]; then
		npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	fi
}

# lock_is_portable: a registry that the lock file names would be asked by everybody.
lock_is_portable() {
	! grep -qE '"resolved": "https?://' package-lock.json || fail "package-lock.json names a registry; npm config set omit-lockfile-registry-resolved true, and write it anew"
}

case ${1:-check} in
build)
	prepare
	npm run --silent generate
	npm run --silent types
	npm run --silent build
	;;
lint)
	prepare
	npm run --silent generate >/dev/null
	npm run --silent lint || fail "ESLint finds faults"
	;;
check)
	lock_is_portable
	prepare
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	npm run --silent generate >/dev/null
	npm run --silent types || fail "the types do not fit"
	npm run --silent test || fail "a unit test fails"
	npm run --silent build -- --outDir "$scratch/dist" >/dev/null
	diff -rq "$scratch/dist" dist || fail "dist/ is not a build of the sources; run make console"
	printf 'ok\t%s\t%ss\n' "$NAME" "$SECONDS"
	;;
*) fail "usage: check.sh build|check|lint" ;;
esac
