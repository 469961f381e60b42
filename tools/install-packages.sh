#!/usr/bin/env bash
# install-packages.sh LOG PACKAGE...: apt as root, with progress, and without starting any service.
# A service that a package brings (haproxy has one) is neither started nor left to start at the next boot.
set -euo pipefail
log=$1
shift

policy=/usr/sbin/policy-rc.d
wrote_policy=no
restore() { [[ $wrote_policy == no ]] || rm -f "$policy"; }
trap restore EXIT
trap 'exit 130' INT TERM
if [[ ! -e $policy ]]; then
  wrote_policy=yes
  printf '#!/bin/sh\n# Written while packages are installed, removed right after.\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi

had_haproxy=no
[[ -e /etc/haproxy/haproxy.cfg ]] && had_haproxy=yes

# apt reports "dlstatus:…:PERCENT:…" and "pmstatus:…:PERCENT:…".
show_progress() {
  local kind percent what last=-1 label
  while IFS=: read -r kind _ percent what; do
    case $kind in
      dlstatus) label=downloading ;;
      pmstatus) label=installing ;;
      *) continue ;;
    esac
    percent=${percent%%.*}
    [[ -t 1 ]] && printf '\r   %-12s %3s %%  %-60.60s' "$label" "$percent" "$what" && last=tty && continue
    if ((percent / 25 != last)); then
      last=$((percent / 25))
      echo "   $label $percent %"
    fi
  done
  if [[ $last == tty ]]; then printf '\r%-90s\r' ''; fi
}

echo "   fetching the package lists"
apt-get -q update >>"$log" 2>&1 || echo "apt-get update failed; going on with the lists at hand" >>"$log"
status=0
{ apt-get -q -y --no-install-recommends -o APT::Status-Fd=3 -o Dpkg::Use-Pty=0 install "$@" 3>&1 >>"$log" 2>&1; } |
  show_progress || status=$?
if ((status == 0)) && [[ $had_haproxy == no && -e /etc/haproxy/haproxy.cfg && -d /run/systemd/system ]]; then
  systemctl disable haproxy.service >>"$log" 2>&1 || true
fi
exit "$status"
