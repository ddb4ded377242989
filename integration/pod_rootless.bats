# Pods of an ordinary user: `ocirun pod` run by `worker` (uid 12345), who has 65536 subordinate ids.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
load lib/ordinary-user
source "$LIB/pods-of-user.bash"

@test "a pod in the foreground: root inside is the user, the ids are the lent ones, nothing is left" {
  container app 'id -u; stat -c %u /etc/passwd /etc/of-web; cat /proc/self/uid_map | xargs -n 3; hostname; exit 7'
  run run_pod --restart never
  equal 7 "$status"
  equal "0
0
1000
0 12345 1
1 $FIRST_UID $LENT
$POD" "$(said)"
  nothing_left
  equal "12345 700" "$(stat -c '%u %a' "$DATA/pods")"
  equal "$((FIRST_UID + 999))" "$(stat -c %u "$DATA"/images/layers/*.user.nodev/etc/of-web)"
}

@test "--detach: status, logs, exec, events, stop and delete from other logins" {
  container app 'trap "echo bye; exit 0" TERM; echo hello; while :; do sleep 0.1; done'
  run_pod --detach
  equal "$POD" "$(said)"
  equal running "$(says .status)"
  has "$POD.app" "$(user list)"
  equal "0 inside" "$(pod exec "$POD" sh -c 'echo $(id -u) inside')"
  as_user env -u XDG_RUNTIME_DIR HOME="$HOME_DIR" "$OCIRUN" pod exec "$POD" touch /from-elsewhere
  run pod exec "$POD" sh -c 'ls /from-elsewhere; exit 5'
  equal 5 "$status"
  equal "1000:1000 /home/web 2 /tmp" "$(pod exec -u web -e A=2 -w /tmp "$POD" sh -c 'echo $(id -u):$(id -g) $HOME $A $PWD')"
  eventually has_lines app 1
  run pod delete "$POD"
  equal 1 "$status"
  output_mentions "the pod \"$POD\" runs: \`ocirun pod stop $POD\` first, or --force"
  pod stop "$POD"
  equal "stopped null 0" "$(says '"\(.status) \(.supervisor) \(.containers[0].exitCode)"')"
  equal $'hello\nbye' "$(pod logs "$POD")"
  equal "created started running stopping stopping exited stopped" "$(pod events "$POD" | jq -r .event | xargs)"
  pod delete "$POD"
  nothing_left
}

@test "a supervisor that is killed: exec works, delete ends programs of lent ids, all is removed" {
  container one 'echo up; sleep 1000'
  container two 'echo x >/tmp/file; chown 1000 /tmp/file; sleep 1000'
  run_pod --detach
  pod exec -c one "$POD" true
  kill -KILL "$(says .supervisor)"
  reaches .status failed
  equal 2 "$(user list -q | wc -l)"
  equal up "$(pod exec -c one "$POD" echo up)"
  pod delete "$POD"
  nothing_left
}

@test "start adopts a pod whose supervisor was killed: its programs go on, and one that ends runs again" {
  local first
  container app 'echo up; while ! [ -e /tmp/end ]; do sleep 0.05; done'
  run_pod --detach
  first=$(says '.containers[0].pid')
  kill -KILL "$(says .supervisor)"
  reaches .status failed
  pod start "$POD" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  equal "running $first" "$(says '"\(.status) \(.containers[0].pid)"')"
  pod exec "$POD" touch /tmp/end
  reaches '.containers[0].restarts' 1
  pod stop "$POD"
  pod delete "$POD"
  nothing_left
}

@test "a program that runs as another user is stopped and deleted" {
  container app 'echo up; sleep 1000'
  run_pod --detach --user web
  eventually has_lines app 1
  equal "$((FIRST_UID + 999))" "$(stat -c %u "/proc/$(says '.containers[0].pid')")"
  pod delete --force "$POD"
  nothing_left
}

@test "several pods at once are deleted by one command, each in its own user namespace" {
  container app 'sleep 1000'
  run_pod --detach
  POD=${POD}b
  run_pod --detach
  pod delete --force "${POD%b}" "$POD"
  nothing_left
}

@test "layers: whiteouts, opaque directories; a restart has a fresh root; files can be removed in the container" {
  python3 -c 'import os; os.setxattr(".", "user.test", b"1")' 2>/dev/null || skip "the filesystem has no attributes of users"
  mkdir -p lower/d/deep upper/d upper/bin
  cp -a "$BUNDLE/rootfs/." lower
  touch lower/d/deep/gone lower/etc/gone lower/etc/kept upper/d/.wh..wh..opq upper/d/new
  mkdir upper/etc
  touch upper/etc/.wh.gone
  rm -rf images
  make_image images base '{}' lower upper
  container app 'exec 2>&1; ls /d; ls /etc/gone; ls /etc/kept; ls /bin/mark; rm -r /d; ls -d /d; touch /bin/mark; exit 1'
  run_pod --detach
  reaches '.containers[0].restarts >= 1' true
  eventually has_lines app 10
  equal "new
ls: /etc/gone: No such file or directory
/etc/kept
ls: /bin/mark: No such file or directory
ls: /d: No such file or directory" "$(pod logs "$POD" | head -5)"
  equal "$(pod logs "$POD" | head -5)" "$(pod logs "$POD" | sed -n 6,10p)"
  pod delete --force "$POD"
}

@test "the root is an overlay; a volume in memory is a tmpfs of its size and owner" {
  cat >app.yaml <<'END'
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: hello}
spec:
  template:
    spec:
      containers:
        - image: base
          command: [/bin/sh, -c]
          args: ['grep -E "^[^ ]+ (/|/t) " /proc/mounts; df -k /t | tail -1; nc -l -p $PORT; sleep 1000']
          volumeMounts: [{name: tmp, mountPath: /t}]
      volumes: [{name: tmp, emptyDir: {medium: Memory, sizeLimit: 1Mi}}]
END
  run_pod --detach
  eventually has_lines user-container 3
  pod logs "$POD" | grep -q '^overlay / overlay .*userxattr'
  pod logs "$POD" | grep -q '^tmpfs /t tmpfs .*size=1024k'
  pod delete --force "$POD"
  nothing_left
}

@test "device nodes of an image are left out, with a warning" {
  mkdir more
  mknod more/node c 1 3
  rm -rf images
  make_image images base '{}' "$BUNDLE/rootfs" more
  container app 'ls /node'
  run run_pod --restart never
  has "app: 1 device nodes of the image are left out" "$(<"$TMP/output")"
  has "ls: /node: No such file" "$(<"$TMP/output")"
}

@test "a layer that leads through a symlink stays in the store" {
  mkdir -p one/x two outside
  ln -s "$HOME_DIR/outside" one/x/link
  mkdir -p two/x/link
  echo planted >two/x/link/file
  rm -rf images
  make_image images base '{}' "$BUNDLE/rootfs" one two
  chown 12345:12345 outside
  container app 'cat /x/link/file'
  run run_pod --restart never
  has planted "$(<"$TMP/output")"
  equal "" "$(ls outside)"
}

@test "limits are refused without a delegated cgroup; requests are a warning" {
  cat >app.yaml <<'END'
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: hello}
spec:
  template:
    spec:
      containers: [{image: base, command: [/bin/true], resources: {limits: {memory: 64Mi}}}]
END
  run run_pod
  equal 1 "$status"
  has 'app.yaml:7:' "$(<"$TMP/output")"
  has 'has limits of memory or processors, but no cgroup is delegated to you' "$(<"$TMP/output")"
  [[ ! -e $DATA/pods/$POD ]]
  sed -i 's/limits: {memory: 64Mi}/requests: {memory: 8Mi}/' app.yaml
  sed -i 's/.bin.true/\/bin\/sh, -c, "nc -l -p 8080 >\/dev\/null; sleep 1000"/' app.yaml
  run_pod --detach
  has 'warning: no cgroup is delegated to you: what the containers request is there' "$(<"$TMP/output")"
  equal "" "$(find /sys/fs/cgroup -name "$POD" 2>/dev/null)"
  pod delete --force "$POD"
}

# delegate: gives the user a cgroup of the unified hierarchy. on_v2 COMMAND…: runs it as the user in that cgroup, where nothing but the
# unified hierarchy is mounted.
delegate() {
  TOP=/sys/fs/cgroup
  [[ -e $TOP/cgroup.procs ]] || TOP=/sys/fs/cgroup/unified
  echo "+memory" >"$TOP/cgroup.subtree_control" 2>/dev/null || true
  mkdir -p "$TOP/$ID-user/shell"
  chown 12345 "$TOP/$ID-user"{,/shell}{,/cgroup.procs,/cgroup.subtree_control}
}
on_v2() {
  unshare --mount bash -c 'umount -R /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup
    echo $$ >"/sys/fs/cgroup/$1/cgroup.procs"; shift; exec "$@"' bash "$ID-user/shell" \
    setpriv --reuid 12345 --regid 12345 --clear-groups env -i PATH="$PATH" HOME="$HOME_DIR" XDG_RUNTIME_DIR="$HOME_DIR/xdg" "$OCIRUN" "$@"
}

@test "a delegated cgroup holds the cgroups of a pod, and limits are kept in it" {
  local limit=max
  has_unified || skip "no unified hierarchy"
  container app 'echo up; sleep 1000'
  delegate
  if grep -qw memory "$TOP/$ID-user/cgroup.controllers"; then
    sed -i 's/^      image: base/&\n      resources: {limits: {memoryInMib: 64}}/' app.yaml
    limit=67108864
  fi
  on_v2 pod run --images images --net none --name "$POD" --detach app.yaml </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || { show_output; return 1; }
  equal "$POD" "$(<"$TMP/output")"
  grep -qx "0::/$ID-user/ocirun/$POD/app" "/proc/$(says '.containers[0].pid')/cgroup"
  equal $limit "$(cat "$TOP/$ID-user/ocirun/$POD/app/memory.max" 2>/dev/null || echo max)"
  equal up "$(on_v2 pod exec "$POD" echo up)"
  on_v2 pod stop "$POD"
  [[ ! -e $TOP/$ID-user/ocirun/$POD ]]
  on_v2 pod delete "$POD"
  nothing_left
  remove_cgroup "$TOP/$ID-user"
}

@test "a user without lent ids has root alone: other owners in an image are an error that says what to do" {
  : >"$TMP/subuid"
  : >"$TMP/subgid"
  container app 'cat /proc/self/uid_map | xargs; touch /x; stat -c %u:%g /x'
  run run_pod --restart never
  equal 1 "$status"
  has 'owner 1000:1000 does not exist in this user namespace' "$(<"$TMP/output")"
  has 'package uidmap' "$(<"$TMP/output")"
  chown 0:0 "$BUNDLE/rootfs/etc/of-web"
  rm -rf images
  make_image images base '{}' "$BUNDLE/rootfs"
  run run_pod --restart never
  equal 0 "$status"
  equal $'0 12345 1\n0:0' "$(said)"
  rm app.yaml
  container app 'echo up; sleep 1000'
  run_pod --detach
  equal "0:0 1" "$(pod exec -u root -e A=1 "$POD" sh -c 'echo $(id -u):$(id -g) $A')"
  run pod exec -u web "$POD" echo executed
  exits 255 1000
  output_never_mentions executed
  pod delete --force "$POD"
  nothing_left
}

@test "a newuidmap that is not installed is named, with what to install" {
  without_programs true 2>/dev/null || skip "no overlay can be mounted over /usr/bin here"
  rm -rf "${TMP:?}/bin" "$TMP/work"
  container app true
  run without_programs setpriv --reuid 12345 --regid 12345 --clear-groups env -i PATH="$PATH" HOME="$HOME_DIR" \
    "$OCIRUN" pod run --images images --net none app.yaml
  equal 1 "$status"
  output_mentions "newuidmap is not installed, and only newuidmap gives you the ids that /etc/subuid lends you (Debian: apt-get install uidmap)"
}

@test "lent ids that newuidmap cannot give are an error, not another map" {
  container app true
  mkdir "$TMP/bin" && cp /usr/bin/newuidmap "$TMP/bin/" # a copy without the set-uid bit
  chmod 755 "$TMP/bin" "$TMP/bin/newuidmap"
  mount --bind "$TMP/bin/newuidmap" /usr/bin/newuidmap
  run run_pod
  umount /usr/bin/newuidmap
  equal 1 "$status"
  has 'the ids that /etc/subuid lends you cannot be had: newuidmap has no privileges' "$(<"$TMP/output")"
}

@test "volumes, init containers, config files and probes" {
  mkdir shared
  chown 12345:12345 shared
  cat >app.yaml <<'END'
apiVersion: core.oam.dev/v1alpha2
kind: ContainerizedWorkload
metadata: {name: shop}
spec:
  containers:
    - name: app
      image: base
      resources:
        cpu: {required: 0.1}
        memory: {required: 8M}
        volumes: [{name: v, mountPath: /v, disk: {required: 1K}}]
      cmd: [/bin/sh, -c]
      args: ["cat /etc/note; mkdir /w; echo ok >/v/up; httpd -p 8080 -h /v; sleep 1000"]
      config: [{path: /etc/note, value: "note\n"}]
      readinessProbe: {httpGet: {path: /up, port: 8080}, periodSeconds: 1}
      livenessProbe: {exec: {command: [/bin/sh, -c, "[ ! -e /v/dead ]"]}, periodSeconds: 1, failureThreshold: 1}
END
  busybox --list | grep -qx httpd || skip "busybox has no httpd"
  ln -s /bin/busybox "$BUNDLE/rootfs/bin/httpd"
  rm -rf images && make_image images base '{}' "$BUNDLE/rootfs"
  run_pod --detach --wait-ready=20 --volume "v=$HOME_DIR/shared"
  equal "12345 ok" "$(stat -c %u shared/up) $(<shared/up)"
  equal note "$(pod logs "$POD" | head -1)"
  POD=${POD}b
  run run_pod --volume "v=$HOME_DIR/shared"
  has "another pod uses the volume, and sharingPolicy is Exclusive" "$(<"$TMP/output")"
  POD=${POD%b}
  touch shared/dead
  reaches '.containers[0].restarts >= 1' true
  pod delete --force "$POD"
  nothing_left
}

@test "who asks a server of the pod is user 65534 of the lent ids, without power, files and environment" {
  local supervisor process name
  container app 'sleep 1000 | nc -l -p 8080 >/dev/null' \
    'livenessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1, timeoutSeconds: 3600, failureThreshold: 1000}'
  run_pod --detach
  supervisor=$(says .supervisor)
  asks() { process=$(pgrep -P "$supervisor" -x ocirun-probe) && grep -q '^Seccomp:[[:space:]]2' "/proc/$process/status"; }
  eventually asks
  process=/proc/$(pgrep -P "$supervisor" -x ocirun-probe)
  for name in CapInh CapPrm CapEff CapBnd CapAmb; do has "$name:"$'\t'0000000000000000 "$(grep "$name" "$process/status")"; done
  has "Uid:"$'\t'"$((FIRST_UID + 65533))" "$(grep Uid: "$process/status")"
  has "Gid:"$'\t'"$((FIRST_GID + 65533))" "$(grep Gid: "$process/status")"
  has $'NoNewPrivs:\t1' "$(grep NoNewPrivs: "$process/status")"
  equal "" "$(ls -A "$process/root/")"
  equal "" "$(tr '\0' ' ' <"$process/environ")"
  pod delete --force "$POD"
  nothing_left
}

@test "an App Container pod: apps share pids; a volume in memory" {
  cat >app.yaml <<'END'
{"acVersion": "0.8.11", "acKind": "PodManifest", "apps": [
  {"name": "one", "image": {"name": "example.com/one", "id": "sha512-..."},
   "app": {"exec": ["/bin/sh", "-c", "until ps | grep -q '[s]leep 997'; do sleep 0.1; done; echo both"], "user": "0", "group": "0"}},
  {"name": "two", "image": {"name": "example.com/two", "id": "sha512-..."},
   "app": {"exec": ["/bin/sleep", "997"], "user": "0", "group": "0"}}], "volumes": []}
END
  run_pod --detach --image example.com/one=images:base --image example.com/two=images:base
  eventually has_lines one 1
  reaches '.containers[0].status' exited
  pod delete --force "$POD"
  nothing_left
}

@test "--net host: the network of the host, whose /sys is seen" {
  container app 'readlink /proc/self/ns/net; ls /sys/class/net'
  pod run --images images --net host --restart never --name "$POD" app.yaml >"$TMP/output" 2>&1
  has "$(readlink /proc/self/ns/net)" "$(<"$TMP/output")"
  nothing_left
}

@test "plan writes bundles that the user runs; images lists and prunes" {
  container app 'stat -c %u /etc/of-web; echo ran'
  pod plan --images images -o "$HOME_DIR/out" app.yaml
  equal $'1000\nran' "$(user run --bundle "$HOME_DIR/out/app" "$ID" 2>/dev/null)"
  has base "$(pod images)"
  has base "$(pod images prune)"
  equal "" "$(pod images)"
  equal 0 "$(find "$DATA/images/layers" -mindepth 1 -maxdepth 1 | wc -l)"
  as_user unshare -Ur true # leaves nothing, and proves that the user may make such namespaces
}

@test "directories of others are not trusted; XDG_DATA_HOME; no home" {
  container app 'echo ran'
  mkdir foreign && chmod 777 foreign
  run pod run --data "$HOME_DIR/foreign" --images images --net none app.yaml
  equal 1 "$status"
  output_mentions "belongs to user"
  run pod status --data "$HOME_DIR/foreign"
  output_mentions "the directory belongs to user 0, and must belong to user 12345"
  run as_user XDG_DATA_HOME="$HOME_DIR/xdg/data" "$OCIRUN" pod status
  succeeds
  exists "$HOME_DIR/xdg/data/ocirun/pods"
  run as_user "$OCIRUN" pod status
  equal 1 "$status"
  output_mentions "neither XDG_DATA_HOME nor HOME is an absolute path: --data DIR"
}

@test "the pods of a user are closed to another user" {
  container app 'sleep 1000'
  chmod 777 "$HOME_DIR"
  run_pod --detach
  run setpriv --reuid 12346 --regid 12346 --clear-groups "$OCIRUN" pod exec --data "$DATA" "$POD" true
  equal 1 "$status"
  output_mentions "ermission denied"
  pod delete --force "$POD"
}

@test "KN-1 KN-7 a bundle runs under the Knative contract: the pod's user namespace replaces the bundle's" {
  local bundle=$HOME_DIR/web
  as_user mkdir -p "$bundle"
  cp -r "$BUNDLE/rootfs" "$bundle/rootfs"
  chown -R 12345:12345 "$bundle/rootfs"
  (cd "$bundle" && as_user "$OCIRUN" spec --rootless)
  jq '.process.terminal = false | .process.args = ["/bin/sh", "-c", $s] | .process.env += ["PORT=8181"]' "$bundle/config.json" \
    --arg s 'echo "$PORT $K_SERVICE"; cat /proc/self/uid_map | xargs -n 3; touch /tmp/a /var/log/b; httpd -h / -p "$PORT"; sleep 1000' >config
  cp config "$bundle/config.json"
  pod run --profile knative --net none --grace 1 --name "$POD" --detach "$bundle" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  has 'user-container: the pod'"'"'s user namespace, with all ids that you may use, replaces the bundle'"'"'s' "$(<"$TMP/output")"
  equal true "$(says '.containers[0].ready')"
  equal "8181 $POD
0 12345 1
1 $FIRST_UID $LENT" "$(pod logs "$POD")"
  pod delete --force "$POD"
  nothing_left
}

@test "--replace does nothing for an unchanged pod, replaces a changed one or ended one, and keeps the old one if the new cannot be made" {
  container app 'echo one; exec sleep 1000'
  run_pod --detach --replace
  local pid
  pid=$(says '.containers[0].pid')
  run_pod --detach --replace
  has "nothing was replaced" "$(said)"
  equal "$pid" "$(says '.containers[0].pid')"
  sed -i 's/one/two/' app.yaml
  run_pod --detach --replace
  reaches .status running
  eventually has_lines app 1
  equal two "$(pod logs "$POD")"
  pid=$(says '.containers[0].pid')
  sed -i 's/image: base/image: absent/' app.yaml
  run run_pod --detach --replace
  equal 1 "$status"
  equal "running $pid" "$(says '"\(.status) \(.containers[0].pid)"')"
  sed -i 's/image: absent/image: base/' app.yaml
  pod stop "$POD"
  run_pod --detach --replace
  equal running "$(says .status)"
  pod delete --force "$POD"
  nothing_left
}

@test "an error in a user namespace does not take a user whom it does not map for user 65534" {
  mkdir "$HOME_DIR/of-root"
  local how="belongs to user 65534, which stands for each user whom this user namespace does not map"
  run as_user unshare -Ur "$OCIRUN" pod status --data "$HOME_DIR/of-root"
  equal 1 "$status"
  output_mentions "the directory $how, and must belong to user 0 who uses it: --data names another directory"
}
