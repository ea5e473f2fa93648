#!/usr/bin/env bash
# Installs what the tests use beside Python where it is missing and may be installed (root, or sudo without a password): Debian's
# chromium for the pages, GNU Octave for the MATLAB code, g++ for exported C and C++. Never fails: tests that need one and have
# none skip with a reason.
# Usage: ensure_tools.sh STAMP    (the stamp keeps later runs from trying again)
set -u
stamp=$1
has() { for name in "$@"; do command -v "$name" >/dev/null && return 0; done; return 1; }
missing=()
has chromium chromium-browser google-chrome || missing+=(chromium)
has octave || missing+=(octave)
{ has cc && has g++; } || missing+=(g++)
[ ${#missing[@]} -eq 0 ] && exit 0
[ -e "$stamp" ] && exit 0
touch "$stamp"
has apt-get || exit 0
if [ "$(id -u)" -eq 0 ]; then
  as_root=()
elif has sudo && sudo -n true 2>/dev/null; then
  as_root=(sudo -n)
else
  exit 0
fi
run() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive timeout 600 "$@" >/dev/null 2>&1; }
for name in "${missing[@]}"; do
  echo "Installing $name for the tests ..."
  run apt-get install -y -qq --no-install-recommends "$name" \
    || { run apt-get update -qq && run apt-get install -y -qq --no-install-recommends "$name"; } \
    || echo "$name could not be installed; the tests that need it will be skipped." >&2
done
exit 0
