# Which Debian 12 packages each job needs, and how they are installed. Sourced by ./run.
# shellcheck shell=bash disable=SC2034,SC2154

# The servers and clients come from mariadb-server-core and mariadb-client-core: they hold the programs and
# no service, so that nothing of Debian's own ever starts or listens.
packages_build=(
  g++ cmake ninja-build ccache pkg-config
  libevent-dev libssl-dev libyaml-cpp-dev libmysqlcppconn-dev libboost-dev
  libexpected-dev libfmt-dev libspdlog-dev libcli11-dev nlohmann-json3-dev
  libxxhash-dev zlib1g-dev libhiredis-dev libcurl4-openssl-dev libzookeeper-mt-dev prometheus-cpp-dev
  libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev libsqlite3-dev
)
packages_demo=(mariadb-server-core mariadb-client-core)
packages_test=(gcc libc6-dev libmariadb-dev python3 python3-pymysql python3-yaml python3-cryptography nodejs npm chromium prometheus)
# Registry servers for the tests that start them by themselves; install-packages.sh keeps their services from starting.
packages_test+=(redis-server etcd-server etcd-client openssl zookeeper default-jre-headless)
packages_bench=(sysbench haproxy python3 python3-pymysql)
packages_lint=(clang-format-14 clang-tidy-14 python3)
packages_fuzz=(clang)

# A tool that came another way than from Debian counts: nodejs from elsewhere brings its own npm.
package_present() {
  local command=''
  case $1 in
    nodejs) command=node ;;
    npm | ccache | sysbench | haproxy) command=$1 ;;
  esac
  [[ -n $command ]] && command -v "$command" >/dev/null && return 0
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed* ]]
}

# need_packages NAME...: installs what is missing and says so; silent when nothing is.
need_packages() {
  local name missing=()
  for name in $(printf '%s\n' "$@" | awk '!seen[$0]++'); do
    package_present "$name" || missing+=("$name")
  done
  ((${#missing[@]})) || return 0
  command -v apt-get >/dev/null ||
    fail "these packages are missing: ${missing[*]}" "Evenkeel builds on Debian 12; install their equivalents by hand"
  local root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      fail "these packages are missing: ${missing[*]}" "run as root: apt-get install ${missing[*]}"
    root=(sudo)
  fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  local log
  log=$(mktemp)
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive bash "$repo/tools/install-packages.sh" "$log" "${missing[@]}" || {
    tail -n 15 "$log" >&2
    fail "apt could not install: ${missing[*]}" \
      "see the lines above (whole log: $log); check the network and /etc/apt, then run the same command again"
  }
  rm -f "$log"
}
