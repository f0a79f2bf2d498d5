#!/bin/sh
# Runs the examples as their readers would: `pagehand api` plays the model of examples/goal.yaml on the sample site, and the example
# brings the results. It passes when it reached the end of the script and the API found nothing wrong with any request.
set -eu
cd "$(dirname "$0")/.."

goal=$(sed -n 's/^  - end: //p' examples/goal.yaml)
work=$(mktemp -d)
mkdir "$work/bin"
api=""
passed=0
failed=0
skipped=0

trap 'stop_api || true; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

start_api() {
	: >"$work/addresses"
	pagehand api --site --script examples/goal.yaml >"$work/addresses" 2>"$work/findings" &
	api=$!
	while [ "$(wc -l <"$work/addresses")" -lt 2 ]; do
		kill -0 "$api" 2>/dev/null || { cat "$work/findings" >&2; return 1; }
		sleep 0.05
	done
	ANTHROPIC_BASE_URL=$(sed -n 1p "$work/addresses")
	site=$(sed -n 2p "$work/addresses")
}

# stop_api returns the API's exit status: 1 when it has found something.
stop_api() {
	[ -n "$api" ] || return 0
	pid=$api
	api=""
	kill "$pid" 2>/dev/null || true
	wait "$pid"
}

# check NAME COMMAND... runs an example. Warnings are shown and do not fail it: the TypeScript SDK makes the results of screenshots
# itself and leaves out the text that the contract asks for.
check() {
	name=$1
	shift
	start_api
	problem=""
	$limit "$@" --url="$site/" --allow-private "What does it cost?" >"$work/said" 2>"$work/called" || problem="exit status $?, "
	[ "$(tail -n 1 "$work/said")" = "$goal" ] || problem="${problem}the goal is not reached, "
	stop_api || problem="${problem}the API has findings, "
	if [ -z "$problem" ]; then
		passed=$((passed + 1))
		echo "ok      $name: $(grep -c '^  ' "$work/called") calls, the goal is reached, no findings, $(grep -c '(warning)' "$work/findings" || true) warnings"
		return
	fi
	failed=$((failed + 1))
	echo "FAILED  $name: ${problem%, }"
	cat "$work/findings" "$work/said" "$work/called"
}

skip() {
	skipped=$((skipped + 1))
	echo "SKIPPED $1: NOT TESTED, because $2"
}

# install_typescript installs what the lock file names, unless that is installed.
install_typescript() {
	cmp -s package-lock.json node_modules/installed-lock.json && return
	npm ci --ignore-scripts && cp package-lock.json node_modules/installed-lock.json
}

unset ANTHROPIC_AUTH_TOKEN ANTHROPIC_MODEL
export ANTHROPIC_API_KEY=any ANTHROPIC_BASE_URL PATH="$work/bin:$PATH"
limit=""
! command -v timeout >/dev/null || limit="timeout 300"

go build -o "$work/bin/" ./cmd/pagehand
go build -o "$work/bin/example-go" ./examples/go
check Go example-go

if command -v python3 >/dev/null; then
	check Python python3 examples/python/main.py
else
	skip Python "there is no python3"
fi

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	skip TypeScript "there is no node or no npm"
elif [ "$(node -p 'parseInt(process.versions.node)')" -lt 20 ]; then
	skip TypeScript "node $(node --version) is older than 20"
elif (cd examples/typescript && install_typescript && npm run --silent build) >"$work/npm" 2>&1; then
	check TypeScript node examples/typescript/dist/main.js
elif ! npm view @anthropic-ai/sdk version >/dev/null 2>&1; then
	skip TypeScript "its packages can't be installed: npm's registry does not answer"
else
	failed=$((failed + 1))
	echo "FAILED  TypeScript: it can't be installed or compiled"
	cat "$work/npm"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
