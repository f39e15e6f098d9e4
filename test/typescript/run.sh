#!/usr/bin/env bash
#
# Generates the TypeScript client, compiles it, and tells its story to the
# program in SIGNPOST_PROGRAM. Without Node 18 or later nothing is run, and the
# last line says so: NOT RUN in place of ok. With SIGNPOST_REQUIRE_ALL=1 that
# is a failure.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"

readonly NAME=github.com/signpost-dns/signpost/test/typescript
readonly OLDEST=18

not_run() {
	if [[ -n ${SIGNPOST_REQUIRE_ALL:-} ]]; then
		printf 'FAIL\t%s\t%s\n' "$NAME" "$*"
		exit 1
	fi
	printf 'NOT RUN\t%s\t%s\n' "$NAME" "$*"
	exit 0
}

command -v node >/dev/null || not_run "node is not installed; version $OLDEST or later is needed"
command -v npm >/dev/null || not_run "npm is not installed"
version=$(node --version)
major=${version#v}
[[ ${major%%.*} -ge $OLDEST ]] || not_run "node is $version; version $OLDEST or later is needed"

# Installed anew only when the lock file has changed since.
installed=node_modules/.package-lock.json
if [[ ! $installed -nt package-lock.json ]]; then
	npm ci --ignore-scripts --loglevel=error
fi
rm -rf dist
if npm test --silent; then
	printf 'ok\t%s\t%ss\n' "$NAME" "$SECONDS"
else
	printf 'FAIL\t%s\t%ss\n' "$NAME" "$SECONDS"
	exit 1
fi
