#!/usr/bin/env bash
#
# Tells the story of the console in a headless Chromium to the program in SIGNPOST_PROGRAM.
#
#   run.sh            the short story; with SIGNPOST_RING=3 all of them
#   run.sh shots DIR  takes the screenshots of the documentation into DIR
#
# Without Node 20 or Chromium nothing is run, and the last line says so: NOT RUN in place of
# ok. With SIGNPOST_REQUIRE_ALL=1 that is a failure. SIGNPOST_CHROMIUM names another browser.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"

readonly NAME=github.com/signpost-dns/signpost/test/console
readonly OLDEST=20

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
SIGNPOST_CHROMIUM=${SIGNPOST_CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
[[ -n $SIGNPOST_CHROMIUM ]] || not_run "chromium is not installed; apt-get install chromium"
export SIGNPOST_CHROMIUM SIGNPOST_PROGRAM=${SIGNPOST_PROGRAM:?the path of signpost}

# Installed anew only when the lock file has changed since.
if [[ ! node_modules/.package-lock.json -nt package-lock.json ]]; then
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
fi
if [[ ${1:-} == shots ]]; then
	node shots.mjs "${2:?the directory for the screenshots}"
elif npm test --silent; then
	printf 'ok\t%s\t%ss\n' "$NAME" "$SECONDS"
else
	printf 'FAIL\t%s\t%ss\n' "$NAME" "$SECONDS"
	exit 1
fi
