#!/bin/sh
# Runs Signpost with this quickstart, in a temporary directory, until Ctrl-C.
#
#   run.sh [path of signpost [path of nameserver]]   LISTEN=127.0.0.1:9019 chooses another address
#
# With a nameserver (test/tools/nameserver), Signpost itself publishes the names to it, and
# the script shows what it answers.
set -eu

signpost=${1:-bin/signpost}
quickstart=$(dirname "$0")
listen=${LISTEN:-127.0.0.1:9018}
group=shop/store/v1/prod
nameserver=${2:-}
data=$(mktemp -d "${TMPDIR:-/tmp}/signpost.XXXXXX")
server=
dns=

clean_up() {
	trap - EXIT
	trap '' INT TERM HUP PIPE
	if [ -n "$dns" ]; then
		kill "$dns" 2>/dev/null || :
		wait "$dns" || :
	fi
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

# gone ends the script as the server has ended. A shell that ignores Ctrl-C, as one in the background does, learns of
# Ctrl-C by that alone.
gone() {
	ended=0
	wait "$server" || ended=$?
	server=
	[ "$ended" -ne 0 ] || exit 0
	echo "Signpost has stopped:" >&2
	tail -n 5 "$data/log" >&2
	if grep -q 'address already in use' "$data/log"; then
		echo "$listen is taken; choose another address: LISTEN=127.0.0.1:9019 make run" >&2
	fi
	exit 1
}

# ask shows what the nameserver answers for the name, once it answers an address.
ask() {
	until "$signpost" query www.lab.example --at "$at" 2>/dev/null | grep -q " $1\$"; do
		kill -0 "$server" 2>/dev/null || gone
		sleep 0.05
	done
	if command -v dig >/dev/null; then
		step dig "@${at%:*}" -p "${at##*:}" +noall +answer www.lab.example
	else
		step "$signpost" query www.lab.example --at "$at"
	fi
}

publish=
if [ -n "$nameserver" ]; then
	mkdir "$data/dns"
	"$nameserver" lab.example "$data/dns" >"$data/dns/log" 2>&1 &
	dns=$!
	until [ -s "$data/dns/ready" ]; do
		kill -0 "$dns" 2>/dev/null || { dns=; tail -n 5 "$data/dns/log" >&2; exit 1; }
		sleep 0.1
	done
	read -r at etcd <"$data/dns/ready"
	publish="--publisher-servers=${etcd#http://} --allow-local-verify"
fi

export SIGNPOST_SERVER="http://$listen"
# shellcheck disable=SC2086 # flags are words
"$signpost" serve --listen "$listen" --grpc-listen 127.0.0.1:0 $publish \
	--data-dir "$data" --ready-file "$data/ready.json" >"$data/log" 2>&1 &
server=$!
until [ -s "$data/ready.json" ]; do
	kill -0 "$server" 2>/dev/null || gone
	sleep 0.1
done

step "$signpost" apply -f "$quickstart"
if [ -n "$nameserver" ]; then # the provider publishes from inside Signpost, not from the hub
	mkdir "$data/documents"
	sed -e "s|http://etcd.dns.svc:2379|$etcd|" -e 's|clusterProvider: edge|publisher: built-in|' -e '/^    cluster: hub$/d' \
		-e "s|^  releaseTimeout:|  verify: {servers: [\"$at\"]}\n  releaseTimeout:|" "$quickstart/record.yaml" >"$data/documents/record.yaml"
	printf '\nFor this demonstration, the provider publishes to the nameserver at %s, without external-dns:\n' "$at"
	step "$signpost" apply -f "$data/documents/record.yaml"
fi
step "$signpost" instantiate "$group" --wait
step "$signpost" status "$group"

if [ -n "$nameserver" ]; then
	ask 203.0.113.10
	printf '\nThe address of the Service changes:\n'
	sed 's/203.0.113.10/203.0.113.20/' "$quickstart/store.yaml" >"$data/documents/store.yaml"
	step "$signpost" apply --deploy -f "$data/documents/store.yaml"
	ask 203.0.113.20
fi

printf '\nThe manifests that Signpost wrote for the clusters, in %s:\n\n' "$data/clusters"
(cd "$data/clusters" && find . | LC_ALL=C sort | sed -e 1d -e 's|[^/]*/|  |g')
if [ -z "$nameserver" ]; then
	printf '\nThe names, as external-dns in the hub reads them:\n\n'
	sed 's/^/  /' "$data"/clusters/hub/shop-dns/dnsendpoint_*.yaml
fi

printf '\nSignpost serves on %s until Ctrl-C. Open this address in a browser, or try in another terminal:\n\n' "$SIGNPOST_SERVER"
if [ "$listen" != 127.0.0.1:9018 ]; then
	printf '  export SIGNPOST_SERVER=%s\n' "$SIGNPOST_SERVER"
fi
printf '  %s publish pie.lab.example --address 203.0.113.9 --project shop\n' "$signpost"
if [ -n "$nameserver" ]; then
	printf '  %s query pie.lab.example --at %s\n' "$signpost" "$at"
fi
cat <<TRY
  $signpost whois www.lab.example
  $signpost history www.lab.example
  $signpost get projects/shop/dns-update-records/lab -o yaml
  $signpost plan $group --for terminate
  curl $SIGNPOST_SERVER/readyz
  curl $SIGNPOST_SERVER/v2/projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/status
  $signpost terminate $group --wait

TRY
gone
