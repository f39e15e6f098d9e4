#!/bin/sh
# Runs Signpost with this quickstart, in a temporary directory, until Ctrl-C.
#
#   run.sh [path of signpost]        LISTEN=127.0.0.1:9019 chooses another address
set -eu

signpost=${1:-bin/signpost}
quickstart=$(dirname "$0")
listen=${LISTEN:-127.0.0.1:9018}
group=shop/store/v1/prod
data=$(mktemp -d "${TMPDIR:-/tmp}/signpost.XXXXXX")
server=

clean_up() {
	trap - EXIT
	trap '' INT TERM HUP PIPE
	if [ -n "$server" ]; then
		kill "$server" 2>/dev/null || :
		wait "$server" || :
	fi
	rm -rf "$data"
}
trap clean_up EXIT
trap 'echo; exit 0' INT TERM
trap 'exit 1' HUP PIPE

# step shows a command as one would type it, and runs it.
step() {
	printf '\n$ %s\n' "$*"
	"$@"
}

# gone tells why the server ended by itself.
gone() {
	server=
	echo "Signpost has stopped:" >&2
	tail -n 5 "$data/log" >&2
	echo "Where $listen is taken: LISTEN=127.0.0.1:9019 make run" >&2
	exit 1
}

export SIGNPOST_SERVER="http://$listen"
"$signpost" serve --listen "$listen" --grpc-listen 127.0.0.1:0 \
	--data-dir "$data" --ready-file "$data/ready.json" >"$data/log" 2>&1 &
server=$!
until [ -s "$data/ready.json" ]; do
	kill -0 "$server" 2>/dev/null || gone
	sleep 0.1
done

step "$signpost" apply -f "$quickstart"
step "$signpost" instantiate "$group" --wait
step "$signpost" status "$group"

printf '\nThe manifests that it pushed, in %s:\n\n' "$data/clusters"
(cd "$data/clusters" && find . | LC_ALL=C sort | sed -e 1d -e 's|[^/]*/|  |g')
printf '\nThe names, as external-dns in the hub reads them:\n\n'
sed 's/^/  /' "$data"/clusters/hub/shop-dns/dnsendpoint_*.yaml

printf '\nSignpost serves on %s until Ctrl-C. In another terminal:\n\n' "$SIGNPOST_SERVER"
if [ "$listen" != 127.0.0.1:9018 ]; then
	printf '  export SIGNPOST_SERVER=%s\n' "$SIGNPOST_SERVER"
fi
cat <<TRY
  curl $SIGNPOST_SERVER/readyz
  curl $SIGNPOST_SERVER/v2/projects/shop/dns-update-records/lab
  curl $SIGNPOST_SERVER/v2/projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/status
  curl -X POST '$SIGNPOST_SERVER/v2/projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/plan?for=terminate'
  $signpost get projects/shop/dns-update-records/lab -o yaml
  $signpost terminate $group --wait

TRY
wait "$server" || :
gone
