#!/bin/sh
# Installs what Pagehand and its tests need and this machine lacks: Chromium, fonts for CJK and emoji, and a C compiler
# for the race detector. Debian's packages; elsewhere it says what to do.
set -eu

missing=""
need() { missing="$missing $1"; }

browser_found() {
	[ -n "${PAGEHAND_BROWSER:-}" ] && return 0
	for path in /usr/lib/chromium/chromium /opt/google/chrome/chrome /opt/microsoft/msedge/msedge; do
		[ -x "$path" ] && return 0
	done
	[ "$(uname)" = Darwin ] && [ -d "/Applications/Google Chrome.app" ] && return 0
	return 1
}

font_found() { find /usr/share/fonts /usr/local/share/fonts "$HOME/.fonts" -name "$1" 2>/dev/null | grep -q .; }

browser_found || need chromium
if [ "$(uname)" = Linux ]; then
	font_found 'NotoSansCJK*' || need fonts-noto-cjk
	font_found 'NotoColorEmoji*' || need fonts-noto-color-emoji
	command -v cc >/dev/null 2>&1 || need "gcc libc6-dev"
fi
[ -z "$missing" ] && exit 0

id=""
[ -r /etc/os-release ] && id=$(. /etc/os-release && echo "${ID:-}")
case "$id" in
debian)
	sudo=""
	[ "$(id -u)" = 0 ] || sudo=sudo
	echo "Installing:$missing"
	export DEBIAN_FRONTEND=noninteractive
	$sudo apt-get update -q
	# shellcheck disable=SC2086
	$sudo apt-get install -y -q --no-install-recommends $missing
	;;
ubuntu)
	echo "Missing:$missing" >&2
	echo "Ubuntu's chromium package is a snap, which cannot be driven by a pipe. Install Google Chrome's .deb from google.com/chrome" >&2
	echo "or point PAGEHAND_BROWSER at another Chromium, and: sudo apt-get install -y fonts-noto-cjk fonts-noto-color-emoji gcc" >&2
	exit 1
	;;
*)
	echo "Missing:$missing" >&2
	echo "Install Chromium or Google Chrome (macOS: brew install --cask google-chrome), then run this again; pagehand doctor tells more." >&2
	exit 1
	;;
esac
