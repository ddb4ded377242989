# `ocirun pod run --profile knative BUNDLE`: bundles under the Knative runtime contract.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

# serve SCRIPT: the program of the bundle runs SCRIPT, then a web server on $PORT until SIGTERM.
serve() {
  config '.process.args = ["/bin/sh", "-c", $s]' \
    --arg s "$1"'; trap "echo bye; exit 0" TERM; httpd -h / -p "$PORT"; while :; do sleep 0.1; done'
}

# run_bundle [OPTION…]: runs the test's bundle with a network of its own.
run_bundle() {
  ocirun pod run --data "$TMP/data" --net none --grace 1 --name "$POD" --profile knative "$@" "$BUNDLE" \
    </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
}

# refused SENTENCE [OPTION…]: the bundle is not run, with this sentence, and nothing is left.
refused() {
  run run_bundle "${@:2}"
  equal 1 "$status"
  has "$1" "$(<output)"
  equal "" "$(pod_names)"
}

@test "KN-1 KN-2 KN-6 KN-13 KN-21 a bundle is ready, answers and ends, and stays as it was" {
  local before
  mkdir "$BUNDLE/rootfs/"{tmp,etc,var} 2>/dev/null || true
  serve 'echo "$PORT $K_SERVICE $K_CONFIGURATION $K_REVISION $OWN"; hostname; cat'
  config '.hostname = "of-the-bundle" | .process.env += ["OWN=kept", "K_REVISION=mine"]'
  before=$(<"$BUNDLE/config.json")
  run_bundle --detach
  equal true "$(says '.containers[0].ready')"
  equal "8080 $POD $POD mine kept"$'\n'"of-the-bundle" "$(pod logs "$POD")" # KN-10: cat has read the end of the file
  equal "$POD.user-container" "$(says '.containers[0].id')"
  has "mine" "$(pod exec "$POD" sh -c 'echo mine >/tmp/page; wget -q -O - 127.0.0.1:8080/tmp/page')"
  equal "1 $POD kept" "$(pod exec -u 0 -e A=1 "$POD" sh -c 'echo $A $K_SERVICE $OWN')"
  pod stop "$POD"
  has bye "$(pod logs "$POD")"
  pod delete "$POD"
  equal "$before" "$(<"$BUNDLE/config.json")"
  equal "" "$(ls "$BUNDLE/rootfs/tmp")" # KN-7: a tmpfs was there
}

@test "a bundle whose program is not there is told with its place and status 127, and replaces no pod that runs" {
  local first
  serve :
  run_bundle --detach
  first=$(says '.containers[0].pid')
  config '.process.args = ["/absent"]'
  run -127 run_bundle --detach --replace
  has "the pod \"$POD\" stays as it is: $BUNDLE/config.json:" "$(<output)"
  has '/process/args/0: container "user-container": exec: "/absent": stat /absent: no such file or directory' "$(<output)"
  equal "running $first" "$(says '"\(.status) \(.containers[0].pid)"')"
  pod delete --force "$POD"
  run -127 run_bundle
  has '/process/args/0: container "user-container": ' "$(<output)"
  has 'exec: "/absent": stat /absent: no such file or directory' "$(<output)"
  equal "" "$(pod_names)"
}

@test "KN-7 KN-8 KN-9 KN-17 --read-only: the root is read-only, /tmp and /var/log are not, the resolver's file is there" {
  mkdir -p "$BUNDLE/rootfs/"{tmp,etc,var/log}
  touch "$BUNDLE/rootfs/etc/"{hosts,hostname,resolv.conf}
  serve 'touch /new 2>&1; touch /tmp/a /var/log/b && echo written; stat -c %a /tmp /var/log; grep -c localhost /etc/hosts; cat /etc/hostname'
  config 'del(.hostname)' # which would be that of the image's file
  run_bundle --detach --read-only
  equal "touch: /new: Read-only file system
written
1777
777
2
$POD" "$(pod logs "$POD")"
}

@test "KN-7 KN-8 mounts of the bundle stay; a relative source is below the bundle" {
  mkdir -p "$BUNDLE/pages" "$BUNDLE/rootfs/"{tmp,var}
  echo "a page" >"$BUNDLE/pages/page"
  serve 'cat /tmp/pages/page; stat -c %a /tmp /var/log'
  config '.mounts += [{destination: "/tmp/pages", type: "bind", source: "pages", options: ["bind", "ro"]},
                      {destination: "/var", type: "tmpfs", source: "tmpfs", options: ["mode=0755"]}]
    | .process.args[2] = "mkdir -m 700 /var/log; " + .process.args[2]'
  run_bundle --detach
  equal $'a page\n1777\n700' "$(pod logs "$POD")"
}

@test "KN-1 KN-12 KN-16 what the contract forbids is refused with its place, and nothing is left" {
  serve true
  config '.process.env += ["PORT=99"]'
  refused '/process/env/2: must be the port 8181 of --port, or be left out' --port 8181
  config '.process.env[-1] = "PORT=none"'
  refused '/process/env/2: PORT must be a number from 1 to 65535'
  config 'del(.process.env[-1]) | .process.terminal = true'
  refused '/process/terminal: must be false'
  config '.process.terminal = false'
  refused 'the program would run as root, which --forbid-root forbids' --forbid-root
  refused '--user: ' --user nobody-knows
  config '.process.args = []'
  refused '/process/args'
  config 'del(.process)'
  refused '/process: is missing: a container runs a program'
}

@test "options for documents and another profile are refused; a path is no bundle" {
  local option
  serve true
  for option in --images=images --image=a=b --volume=a=/b --secret=a=/b --param=a=b --extended=a=b --enforce-required --seccomp=default \
    --seccomp-profiles=a --ignore=a; do
    refused "${option%%=*} is for documents: the bundle's config.json says all of this itself" "$option"
  done
  refused 'only an App Container pod has a metadata service' --metadata
  refused '--profile other: must be knative' --profile other
  run pod run --profile knative "$TMP/images"
  equal 1 "$status"
  output_mentions "config.json not found in $TMP/images"
}

@test "KN-16 --user takes an account of the bundle's root; without it the bundle's user stays" {
  mkdir -p "$BUNDLE/rootfs/etc"
  echo 'web:x:77:78::/:/bin/sh' >"$BUNDLE/rootfs/etc/passwd"
  printf 'more:x:79:web\n' >>"$BUNDLE/rootfs/etc/group"
  serve 'id -u; id -g; grep Groups: /proc/self/status | xargs'
  config '.process.user = {uid: 5, gid: 6}'
  run_bundle --detach --forbid-root
  equal $'5\n6\nGroups:' "$(pod logs "$POD")"
  pod delete --force "$POD"
  run_bundle --detach --user web
  equal $'77\n78\nGroups: 78 79' "$(pod logs "$POD")" # CVE-2022-36109
}

@test "KN-6 a bundle that does not become ready fails, and nothing is left" {
  config '.process.args = ["/bin/sleep", "1000"]'
  refused 'not all containers were ready within 1 s (--wait-ready); "user-container": readiness probe: TCP port 8080: ' --wait-ready=1
  equal "" "$(ocirun list -q)"
}

@test "KN-1 PORT of the bundle is the port of the probe; a second program restarts it" {
  serve 'echo "$PORT"; [ ! -e /again ] && touch /again && exit 3'
  config '.process.env += ["PORT=8123"]'
  run_bundle --detach
  equal $'8123\n8123' "$(pod logs "$POD")"
  equal "1 true" "$(says '.containers[0] | "\(.restarts) \(.ready)"')"
  [[ -e $BUNDLE/rootfs/again ]] # the root filesystem is the bundle's own
}

@test "KN-18 the bundle's limits and filter stay; the cgroup is the pod's, and cgroup mounts are read-only" {
  serve 'grep -c "/sys/fs/cgroup ro," /proc/self/mountinfo; grep -c " /cgroups[^ ]* rw," /proc/self/mountinfo; grep Seccomp: /proc/self/status | cut -f 2; grep NoNewPrivs /proc/self/status | cut -f 2'
  config 'del(.mounts[] | select(.destination == "/sys/fs/cgroup"))
    | .mounts += [{destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["nosuid"]},
                  {destination: "/cgroups", type: "none", source: "/sys/fs/cgroup", options: ["rbind", "rw"]}]
    | .linux.resources.pids.limit = 33 | .linux.cgroupsPath = "/elsewhere" | .process.noNewPrivileges = true
    | .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["swapon"], action: "SCMP_ACT_ERRNO"}]}'
  run_bundle --detach
  equal $'1\n0\n2\n1' "$(pod logs "$POD")"
  equal 33 "$(ocirun events --stats "$POD.user-container" | jq .data.pids.limit)"
  has "/$POD/user-container" "$(cat "/proc/$(says '.containers[0].pid')/cgroup")"
}

@test "a mount on /etc/ with a slash is one, and a relative listenerPath is below the bundle" {
  mkdir -p "$BUNDLE/etc"
  serve 'ls /etc'
  config '.mounts += [{destination: "/etc/", type: "bind", source: "etc", options: ["bind", "ro"]}]'
  run_bundle --detach
  equal "" "$(pod logs "$POD")"
  pod delete --force "$POD"
  config '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: "agent.sock",
    syscalls: [{names: ["swapon"], action: "SCMP_ACT_NOTIFY"}]}'
  refused "$BUNDLE/agent.sock: no such file"
}

@test "KN-7 KN-8 a mount that keeps the program from writing is a warning; network devices are refused" {
  mkdir -p "$BUNDLE/var"
  serve true
  config '.mounts += [{destination: "/var", type: "bind", source: "var", options: ["bind", "ro"]}]'
  run_bundle --detach
  has 'warning: user-container: KN-8: /var/log can be written to: is not met: the mount on /var is read-only' "$(<output)"
  pod delete --force "$POD"
  config '.linux.netDevices = {eth0: {}}'
  refused "/linux/netDevices: must be left out: the network is the pod's"
}

@test "the network: --net, else what the bundle says" {
  network() { readlink "/proc/$(says '.containers[0].pid')/ns/net"; }
  run_in() {
    ocirun pod run --data "$TMP/data" --grace 1 --name "$POD" --profile knative --detach --port 18080 "$@" "$BUNDLE" \
      </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
  }
  serve true
  config 'del(.linux.namespaces[] | select(.type == "network"))'
  run_in
  equal "$(readlink /proc/self/ns/net)" "$(network)"
  pod delete --force "$POD"
  run_in --net none
  [[ $(readlink /proc/self/ns/net) != "$(network)" ]]
  config '.linux.namespaces += [{type: "network", path: $n}]' --arg n "/proc/$(says '.containers[0].pid')/ns/net"
  POD=$POD-2 run_in
  equal "$(network)" "$(POD=$POD-2 network)"
}
