#!/usr/bin/env bash
#
# Generates the TypeScript client, compiles it, and tells its story to the program in
# SIGNPOST_PROGRAM. It needs Node 18.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"

readonly NAME=github.com/signpost-dns/signpost/test/typescript
readonly OLDEST=18
# shellcheck source=../node.sh
source ../node.sh

need_node
rm -rf dist
run_tests
