#!/usr/bin/env bash
#
# Tells the story of the console in a headless Chromium to the program in SIGNPOST_PROGRAM, and searches the
# documentation ("make site").
#
#   run.sh            the short story; with SIGNPOST_RING=3 all of them
#   run.sh shots DIR  takes the screenshots of the documentation into DIR
#
# It needs Node 20 and Chromium. SIGNPOST_CHROMIUM names another browser.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"

readonly NAME=github.com/signpost-dns/signpost/test/console
readonly OLDEST=20
# shellcheck source=../node.sh
source ../node.sh

SIGNPOST_CHROMIUM=${SIGNPOST_CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
[[ -n $SIGNPOST_CHROMIUM ]] || not_run "chromium is not installed; apt-get install chromium"
export SIGNPOST_CHROMIUM SIGNPOST_PROGRAM=${SIGNPOST_PROGRAM:?the path of signpost}

need_node
if [[ ${1:-} == shots ]]; then
	node shots.mjs "${2:?the directory for the screenshots}"
else
	run_tests
fi
