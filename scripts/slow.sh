#!/bin/sh
# Runs the slow tests when what they depend on has changed since they last passed. .ci/slow-passed holds the digest of
# those inputs; commit it with the change that it vouches for. FORCE=1 runs them anyway.
set -eu
cd "$(dirname "$0")/.."

inputs="go.mod *.go contract egress internal script testdata scripts/slow.sh"
# shellcheck disable=SC2086
digest=$(git ls-files -s -- $inputs | sha256sum | cut -d' ' -f1)
if [ -z "${FORCE:-}" ] && [ "$digest" = "$(cat .ci/slow-passed 2>/dev/null)" ] && git diff --quiet -- $inputs; then
	echo "The slow tests passed with these inputs already."
	exit 0
fi

PAGEHAND_SLOW=1 go test -timeout 20m -run 'Slow' ./...
for target in $(go list ./...); do
	for fuzz in $(go test -list '^Fuzz' "$target" | grep '^Fuzz' || true); do
		go test -run '^$' -fuzz "^$fuzz\$" -fuzztime 20000x -fuzzminimizetime 10x "$target"
	done
done
echo "$digest" >.ci/slow-passed
