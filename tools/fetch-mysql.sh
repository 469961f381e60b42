#!/usr/bin/env bash
# Unpacks a real MySQL server of Debian's development branch (sid) into the cache, without installing anything:
# the packages and all they depend on are downloaded with an empty package database and unpacked into one tree,
# which then runs through its own loader. About 70 MiB to fetch, 450 MiB unpacked.
#
#   tools/fetch-mysql.sh [--quiet-if-present]
#
# Ends with 0 when the tree is there, 3 when it could not be downloaded ("SKIPPED: …" on standard error),
# 1 on any other failure.
set -euo pipefail
cache=${XDG_CACHE_HOME:-${HOME:-/tmp/evenkeel-$(id -u)}/.cache}/evenkeel/mysql
root=$cache/root
packages=(mysql-server-core mysql-client-core)

say() { printf '== %s\n' "$*"; }
skip() {
  printf 'SKIPPED: no MySQL server: %s\n' "$1" >&2
  exit 3
}

if [[ -x $root/usr/sbin/mysqld ]]; then
  [[ ${1:-} == --quiet-if-present ]] || say "MySQL is unpacked in $root"
  exit 0
fi
for command in apt-get dpkg-deb; do
  command -v "$command" >/dev/null || skip "$command is not on this machine"
done
[[ $(uname -m) == x86_64 ]] || skip "the tree's loader is known for x86_64 only"

# The mirror that apt already uses for Debian itself.
mirror=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN)' 2>/dev/null | awk '$2 == "Debian" { print $1; exit }' || true)
if [[ -z $mirror ]]; then
  mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
    grep -oE 'https?://[^ ]*/debian/?( |$)' | head -n 1 | tr -d ' ' || true)
fi
mirror=${mirror:-http://deb.debian.org/debian}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[[ -e $keyring ]] || skip "the keyring $keyring is missing (apt-get install debian-archive-keyring)"

mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
[[ -x $root/usr/sbin/mysqld ]] && exit 0
work=$(mktemp -d "$cache/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir -p "$work"/{lists/partial,archives/partial,root}
: >"$work/status"
echo "deb [signed-by=$keyring] $mirror sid main" >"$work/sources.list"

# The development branch's release file is often past its date on mirrors that are frozen.
cat >"$work/apt.conf" <<TEXT
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$work/lists";
Dir::State::status "$work/status";
Dir::Cache "$work";
Dir::Cache::archives "$work/archives";
Acquire::Check-Valid-Until "false";
APT::Install-Recommends "0";
APT::Sandbox::User "root";
APT::Architectures { "amd64"; };
TEXT
apt() { APT_CONFIG=$work/apt.conf apt-get -q "$@" >>"$work/log" 2>&1; }

say "fetching MySQL's packages from $mirror (about 70 MiB)"
apt update || { tail -n 5 "$work/log" >&2; skip "the package lists of sid could not be downloaded"; }
apt -y --download-only install "${packages[@]}" ||
  { tail -n 5 "$work/log" >&2; skip "the packages could not be downloaded"; }

say "unpacking $(find "$work/archives" -name '*.deb' | wc -l) packages"
mkdir -p "$work"/root/usr/{lib,lib64,bin,sbin}
for folder in lib lib64 bin sbin; do ln -s "usr/$folder" "$work/root/$folder"; done
for package in "$work"/archives/*.deb; do dpkg-deb -x "$package" "$work/root"; done
[[ -x $work/root/usr/sbin/mysqld ]] || { echo "the packages hold no mysqld" >&2; exit 1; }
rm -rf "$root"
mv "$work/root" "$root"
say "MySQL is unpacked in $root"
