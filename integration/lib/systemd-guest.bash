# shellcheck shell=bash disable=SC2016 # jq's variables are not the shell's
# Functions for the scripts that systemd.bats and pod_systemd.bats run in a guest of vm/systemd-ns. The runtime uses systemd's cgroups (--systemd-cgroup).

set -euo pipefail
GUEST_LIB=$(readlink -f "${BASH_SOURCE[0]}")
export GUEST_LIB
W=$(mktemp -d)
PATH=$PATH:/usr/sbin:/sbin
instance=() rootless=()
[[ $(id -u) == 0 ]] || { instance=(--user) rootless=(--rootless); }
chmod 755 "$W"

ocirun() { timeout --foreground -k 2 300 "$OCIRUN" --root "$W/root" --systemd-cgroup "$@"; }
# Called where set -e ends the script.
trap 'echo "status $? of: $BASH_COMMAND" >&2' ERR
systemd() { systemctl "${instance[@]}" "$@"; }

# show UNIT PROPERTY: prints the property's value.
show() { systemd show --value -p "$2" "$1"; }

# equal WHAT EXPECTED FOUND: ends the script if the texts differ.
equal() { [[ $2 == "$3" ]] || { echo "$1: expected \"$2\", found \"$3\""; exit 1; }; }

# has UNIT PROPERTY VALUE: ends the script if the property has another value.
has() { equal "$1 $2" "$3" "$(show "$1" "$2")"; }

# bundle [FILTER [JQ OPTION…]]: makes $W/bundle, a busybox that sleeps, and edits its config.json by the filter.
bundle() {
  local name
  rm -rf "$W/bundle"
  mkdir -p "$W/bundle/rootfs/bin"
  cp "$(command -v busybox)" "$W/bundle/rootfs/bin/sh"
  for name in cat sleep tail; do ln -s sh "$W/bundle/rootfs/bin/$name"; done
  (cd "$W/bundle" && ocirun spec "${rootless[@]}")
  config '.process.terminal = false | .process.args = ["sleep", "1000"]'
  config "${@:-.}"
}

config() {
  jq "$1" "$W/bundle/config.json" "${@:2}" >"$W/bundle/new"
  mv "$W/bundle/new" "$W/bundle/config.json"
}

# up ID: creates and starts a container.
up() {
  ocirun create --bundle "$W/bundle" "$1" </dev/null >"$W/log" 2>&1 || { cat "$W/log"; exit 1; }
  ocirun start "$1"
}

# refused WORDS ID [OPTION…]: checks that `create` fails with a message that contains the words, and leaves no state.
refused() {
  if ocirun "${@:3}" create --bundle "$W/bundle" "$2" </dev/null >"$W/log" 2>&1; then
    echo "was not refused: $1"
    exit 1
  fi
  grep -qF -- "$1" "$W/log" || { echo "expected: $1"; cat "$W/log"; exit 1; }
  [[ ! -e $W/root/$2 ]] || { echo "left its state behind"; exit 1; }
}

# pid ID: prints init's pid. group PID: prints the process's cgroup in the unified hierarchy.
pid() { ocirun state "$1" | jq .pid; }
group() { sed -n 's/^0:://p' "/proc/$1/cgroup"; }

# gone UNIT: checks that systemd does not know the unit any more, and that no cgroup of its name is left.
gone() {
  equal "$1 LoadState" not-found "$(show "$1" LoadState)"
  equal "cgroups of $1" "" "$(find /sys/fs/cgroup -type d -name "$1")"
}

# --- services ----------------------------------------------------------------------------------------

# unit NAME: installs the unit file that stdin holds.
unit() {
  cat >"/run/systemd/system/$1"
  systemd daemon-reload
}

manager= # the services' option for ocirun: --systemd-cgroup or nothing

# web [LINE…]: installs web.service, which runs $W/bundle as in ocirun-run(8), with the LINEs added.
web() {
  printf '%s\n' '[Service]' Type=notify "ExecStart=$OCIRUN --root $W/root $manager run --bundle $W/bundle web" \
    "ExecStopPost=$OCIRUN --root $W/root delete --force web" SyslogIdentifier=web TimeoutStopSec=3 "$@" | unit web.service
}

# program SCRIPT: the container runs a bash script, with the guest's programs in /usr.
program() {
  ln -sfn usr/lib "$W/bundle/rootfs/lib"
  ln -sfn usr/lib64 "$W/bundle/rootfs/lib64"
  config '.process.args = ["/usr/bin/bash", "-c", $script] | .process.env = ["PATH=/usr/bin"] |
    .mounts |= map(select(.destination != "/usr")) + [{destination: "/usr", source: "/usr", options: ["rbind", "ro"]}]' --arg script "$1"
}

# nothing_left: checks that the container `web` has left no state, cgroup and process.
nothing_left() {
  equal "states" "" "$(ls "$W/root")"
  equal "cgroups" "" "$(find /sys/fs/cgroup -type d \( -path '*/ocirun/web' -o -name ocirun-web.scope -o -name web.service \))"
  equal "processes" "" "$(pgrep -f "run --bundle $W/bundle|^/usr/bin/bash -c" || true)"
}

# journal_has LINE JOURNALCTL-OPTION…: the journal has this line within two minutes.
journal_has() {
  local deadline=$((SECONDS + 120))
  while ((SECONDS < deadline)); do
    ! journalctl --output=cat "${@:2}" | grep -qxF -- "$1" || return 0
    sleep 0.1
  done
  echo "not in the journal: $1"
  journalctl --no-pager
  exit 1
}

# eventually COMMAND…: the command succeeds within two minutes.
eventually() {
  local deadline=$((SECONDS + 120))
  until "$@"; do
    ((SECONDS < deadline)) || { echo "never became true: $*"; exit 1; }
    sleep 0.1
  done
}

# soon WHAT EXPECTED COMMAND…: the command prints EXPECTED within two minutes.
soon() {
  local deadline=$((SECONDS + 120))
  while ((SECONDS < deadline)); do
    [[ $("${@:3}") != "$2" ]] || return 0
    sleep 0.1
  done
  equal "$1" "$2" "$("${@:3}")"
}

# --- pods --------------------------------------------------------------------------------------------

# pod_image: makes the image "base", a busybox, in the layout $W/images.
pod_image() {
  bundle .
  # shellcheck source=integration/lib/image.bash
  source "${GUEST_LIB%/*}/image.bash"
  make_image "$W/images" base '{}' "$W/bundle/rootfs"
}

# pod_document SCRIPT MEMORY: writes $W/pod.json, an App Container pod of the containers `one` and `two` of root's. Both run the script.
# The pod may use MEMORY and half a CPU.
pod_document() {
  jq -n --arg script "$1" --arg memory "$2" '
    def container($name): {name: $name, image: {name: "base", id: "sha512-..."},
      app: {exec: ["/bin/sh", "-c", $script], user: "0", group: "0"}};
    {acVersion: "0.8.11", acKind: "PodManifest", volumes: [], apps: [container("one"), container("two")],
     isolators: [{name: "resource/memory", value: {limit: $memory}}, {name: "resource/cpu", value: {limit: "500m"}}]}' >"$W/pod.json"
}

pod() { ocirun pod "$1" --data "$W/data" "${@:2}"; }
# run_pod OPTION…: runs the pod a-b.
run_pod() { pod run --image "base=$W/images:base" --net none --grace 1 --name a-b --detach "$@" "$W/pod.json" </dev/null; }
# says FILTER: what `pod status` says of the pod.
says() { pod status --format json a-b | jq -r "$1"; }

# ends: the exit code of each container, and whether the kernel killed it for its memory.
ends() { says '[.containers[] | "\(.exitCode) \(.oomKilled)"] | join(", ")'; }
# lose_supervisor: kills the pod's supervisor and waits until it is gone.
lose_supervisor() {
  local supervisor
  supervisor=$(says .supervisor)
  kill -KILL "$supervisor"
  while kill -0 "$supervisor" 2>/dev/null; do sleep 0.05; done
}

SLICE='ocirun-a\x2db.slice'
# no_pod_left: checks that the pod's slice and scopes, its processes and its directory are gone. (systemd says of any slice that it is
# loaded.)
no_pod_left() {
  has "$SLICE" ActiveState inactive
  gone ocirun-a-b.one.scope
  gone ocirun-a-b.two.scope
  equal "cgroups" "" "$(find /sys/fs/cgroup -type d -name '*a*2db*')"
  equal "pods" "" "$(ls "$W/data/pods")"
  equal "containers" "" "$(ocirun list -q)"
  equal "processes" "" "$(pgrep 'ocirun-(pod|hold)' || true)"
}
