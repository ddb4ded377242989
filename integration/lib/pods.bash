# shellcheck shell=bash disable=SC2154
# Functions for tests of `ocirun pod`: `source "$LIB/pods.bash"` after `load lib/common`.

# pod COMMAND…: `ocirun pod` with the test's data directory, or with $POD_DATA.
pod() { ocirun pod "$1" --data "${POD_DATA:-$TMP/data}" "${@:2}"; }
pod_names() { ls "${POD_DATA:-$TMP/data}/pods"; }

# delete_pods: deletes all pods of the test by force, for teardown.
delete_pods() {
  local directory
  for directory in "${POD_DATA:-$TMP/data}"/pods/*/; do
    [[ ! -d $directory ]] || pod delete --force "$(basename "$directory")" || true
  done
}

# quietly COMMAND…: runs a command whose processes may outlive it: they must not keep bats' pipes. The output goes to $TMP/output.
quietly() { "$@" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output; }

# has WORDS TEXT, like REGEX TEXT: the text contains the words, or matches.
has() { [[ $2 == *"$1"* ]] || { printf 'expected: %s\nin:       %s\n' "$1" "$2" && return 1; }; }
like() { [[ $2 =~ $1 ]] || { printf 'expected to match: %s\nfound: %s\n' "$1" "$2" && return 1; }; }

# says JQ-FILTER: what `pod status` says of the pod $POD.
says() { pod status --format json "$POD" | jq -r "$1"; }
is_there() { pod status "$POD" >/dev/null 2>&1; }
# reaches FILTER VALUE: waits until `says FILTER` is the value.
is_now() { [[ $(says "$1") == "$2" ]]; }
reaches() { eventually is_now "$@"; }

# has_lines CONTAINER NUMBER: the container has written so many lines.
has_lines() { [[ $(pod logs -c "$1" "$POD" | wc -l) -ge $2 ]]; }

# has_event WORD: the events of the pod have this one.
has_event() { pod events "$POD" | jq -r .event | grep -qx "$1"; }

# add_way_outside, for setup_file: pasta copies the addresses of the interface that leads outside.
add_way_outside() {
  ip link add outside0 type veth peer name outside1 2>/dev/null || return 0
  ip link set outside1 up
  ip address add 192.0.2.9/24 dev outside0
  ip link set outside0 up
  ip route add default via 192.0.2.1
  [[ ! -e /proc/sys/net/ipv6 ]] || { ip address add 2001:db8::9/64 nodad dev outside0 && ip route add default via 2001:db8::1; }
}
remove_way_outside() { ip link delete outside0 2>/dev/null || true; }
# needs_pasta: skips without pasta, or without a way outside.
needs_pasta() {
  [[ -x $(command -v pasta) && -e /dev/net/tun ]] || skip "needs pasta and /dev/net/tun"
  ip link show outside0 >/dev/null || skip "needs a pair of interfaces"
}
