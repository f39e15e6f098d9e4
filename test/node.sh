# shellcheck shell=bash
#
# A test in Node: test/console and test/typescript source it, in their own directories, with
# NAME (of the test) and OLDEST (the first version of Node that will do).
#
# Without what a test needs nothing is run, and the last line says so: NOT RUN in place of ok.
# With SIGNPOST_REQUIRE_ALL=1 that is a failure.

not_run() {
	if [[ -n ${SIGNPOST_REQUIRE_ALL:-} ]]; then
		printf 'FAIL\t%s\t%s\n' "$NAME" "$*"
		exit 1
	fi
	printf 'NOT RUN\t%s\t%s\n' "$NAME" "$*"
	exit 0
}

# need_node looks for Node, and installs packages anew if the lock file has changed since.
need_node() {
	command -v node >/dev/null || not_run "node is not installed; version $OLDEST or later is needed"
	command -v npm >/dev/null || not_run "npm is not installed"
	local version major
	version=$(node --version)
	major=${version#v}
	[[ ${major%%.*} -ge $OLDEST ]] || not_run "node is $version; version $OLDEST or later is needed"
	if [[ ! node_modules/.package-lock.json -nt package-lock.json ]]; then
		npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	fi
}

# run_tests runs the tests of the directory, and tells how they went.
run_tests() {
	if npm test --silent; then
		printf 'ok\t%s\t%ss\n' "$NAME" "$SECONDS"
	else
		printf 'FAIL\t%s\t%ss\n' "$NAME" "$SECONDS"
		exit 1
	fi
}
