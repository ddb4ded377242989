# shellcheck shell=bash disable=SC2154
# Functions for the scripts that pod_service.bats runs in a guest, after lib/systemd-guest.bash: pods as services of systemd.

PATH=$PATH:/usr/sbin:/sbin
UNITS=/run/systemd/system DATA=/var/lib/ocirun
[[ $(id -u) == 0 ]] || { UNITS=$HOME/.config/systemd/user DATA=$HOME/.local/share/ocirun; }
SERVICE=ocirun-shop.service ENTRY=ocirun-shop@8080

# service_image: makes the image "base" with a web server.
service_image() {
  bundle .
  ln -s sh "$W/bundle/rootfs/bin/httpd"
  # shellcheck source=integration/lib/image.bash
  source "${GUEST_LIB%/*}/image.bash"
  make_image "$W/images" base '{}' "$W/bundle/rootfs"
}

# service_document SCRIPT: writes $W/shop.json, an App Container pod of one container that runs the script.
service_document() {
  jq -n --arg script "$1" '{acVersion: "0.8.11", acKind: "PodManifest", volumes: [], apps: [{name: "web", image: {name: "base", id: "sha512-..."},
    app: {exec: ["/bin/sh", "-c", $script], user: "0", group: "0"}}]}' >"$W/shop.json"
}

# web_document: writes $W/shop.json, a Knative service whose program serves /bin on port 8080.
web_document() {
  jq -n '{apiVersion: "serving.knative.dev/v1", kind: "Service", metadata: {name: "shop"}, spec: {template: {spec: {containers: [
    {image: "base", ports: [{containerPort: 8080}],
     command: ["/bin/sh", "-c", "trap \"exit 0\" TERM; httpd -f -p 8080 -h /bin & wait"]}]}}}}' >"$W/shop.json"
}

# write_units [OPTION…]: writes the units of $W/shop.json where systemd looks for them.
write_units() {
  mkdir -p "$UNITS"
  "$OCIRUN" pod unit --name shop --image "base=$W/images:base" -o "$UNITS" "$@" "$W/shop.json"
  systemd-analyze "${instance[@]}" verify --man=no "$UNITS"/ocirun-shop*
  systemd daemon-reload
}

# container_pid: prints the pid of the pod's program.
container_pid() { "$OCIRUN" pod status --format json shop | jq '.containers[0].pid'; }

# is_another PID: the pod has a program with another pid.
is_another() {
  local now
  now=$(container_pid)
  [[ $now != 0 && $now != null && $now != "$1" ]]
}

# in_service: checks that the pod's program and supervisor are in cgroups below the service's, and nowhere else.
in_service() {
  local own
  own=$(show "$SERVICE" ControlGroup)
  equal "the container's cgroup" "$own/ocirun/shop/$1" "$(group "$(container_pid)")"
  equal "the supervisor's cgroup" "$own/supervisor" "$(group "$(show "$SERVICE" MainPID)")"
  equal "cgroups outside of the service" "" "$(find /sys/fs/cgroup -path '*/ocirun/shop' ! -path "*/$SERVICE/*")"
}

# no_service_left: checks that the pod has ended and nothing of it is left.
no_service_left() {
  equal "cgroups" "" "$(find /sys/fs/cgroup -type d -name "$SERVICE")"
  equal "pods" "" "$(ls "$DATA/pods")"
  equal "processes" "" "$(pgrep -u "$(id -u)" 'ocirun-(pod|hold)|pasta' || true)"
}

# ask: prints the first line of the answer of the web server.
ask() {
  local answer=
  exec 5<>/dev/tcp/127.0.0.1/8080
  printf 'GET /sh HTTP/1.0\r\n\r\n' >&5
  IFS= read -r -t 400 -u 5 answer || true
  exec 5>&-
  echo "${answer%$'\r'}"
}

# answered: the web server answers a request.
answered() {
  local answer
  answer=$(ask)
  [[ $answer == "HTTP/1.1 200 OK" ]] || { journalctl "${instance[@]}" --no-pager; equal answer "HTTP/1.1 200 OK" "$answer"; }
}

# timed_ask: the answer must be good; prints the milliseconds until its first line.
timed_ask() {
  local begun=${EPOCHREALTIME/./}
  answered >&2
  echo "$(((${EPOCHREALTIME/./} - begun) / 1000))"
}

# listens_again: neither the pod nor the proxy runs, and the socket waits for a request.
listens_again() { [[ $(show "$SERVICE" ActiveState) != active && $(show "$ENTRY.socket" SubState) == listening ]]; }
