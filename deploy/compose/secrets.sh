#!/usr/bin/env bash
#
# Makes what docker-compose.yml wants and nobody else may know: .env with the
# password of MongoDB and the user that Signpost runs as, and in
# deploy/compose/secrets the key of the replica set, the key of Signpost's
# secrets at rest, and a token for the admin. What is there already stays.
set -euo pipefail
umask 077

cd "$(dirname "${BASH_SOURCE[0]}")"
readonly ENVIRONMENT=../../.env

# Containers read the files as their owner. Signpost does not run as root, so
# root gives them to the image's own user.
if [[ $(id -u) -eq 0 ]]; then
	user=65532:65532
else
	user=$(id -u):$(id -g)
fi

random() { head -c "$1" /dev/urandom | base64 -w 0; }

# password: without what has a meaning in a URL or in a token file.
password() { random 24 | tr '+/' '-_'; }

environment() { printf 'MONGO_PASSWORD=%s\nSIGNPOST_USER=%s\n' "$(password)" "$user"; }

tokens() { printf '# TOKEN,SUBJECT,ROLE[,PROJECT]\n%s,admin,admin\n' "$(password)"; }

# once <file> <command...>: makes a file that is not there yet of what the
# command prints.
once() {
	local file=$1
	shift
	if [[ ! -s $file ]]; then
		"$@" >"$file.new"
		mv "$file.new" "$file"
	fi
}

mkdir -p secrets clusters
chmod 755 clusters # manifests, for whoever deploys them
once "$ENVIRONMENT" environment
once secrets/signpost-key random 32
once secrets/mongodb-key random 512
once secrets/tokens tokens
if [[ $(id -u) -eq 0 ]]; then
	# Who ran this first decided, and .env says so to docker compose.
	user=$(sed -n 's/^SIGNPOST_USER=//p' "$ENVIRONMENT")
	chown "$user" clusters secrets/signpost-key secrets/tokens
fi

echo "The admin's token, as in: export SIGNPOST_TOKEN=..."
sed -n 's/,admin,admin$//p' secrets/tokens
