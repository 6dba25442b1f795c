#!/usr/bin/env bash
# Makes sure that there is a Chromium for the test of the report's page, installing Debian's where it
# is missing and we may. Ends with 0 if there is one, and with 3 and a word of what to do if not.
set -euo pipefail

found() {
    command -v chromium || command -v chromium-browser || command -v google-chrome
}

if found; then
    exit 0
fi
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    log="$(mktemp)"
    trap 'rm -f "$log"' EXIT
    if { apt-get update && apt-get install --yes --no-install-recommends chromium; } >"$log" 2>&1; then
        found
        exit 0
    fi
    tail -n 3 "$log" >&2
fi
echo "SKIPPED: no Chromium, and it could not be installed: the page is not tested in a browser" >&2
exit 3
