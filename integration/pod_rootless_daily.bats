# Daily life of the pods of an ordinary user: networks, copies, statistics; `ocirun pod` run by `worker` (uid 12345), who has 65536 subordinate ids.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
load lib/ordinary-user
source "$LIB/pods-of-user.bash"

answers() { [[ $(pod exec "$1" busybox timeout 5 busybox wget -q -O - "http://$2:8080/") == "$2" ]]; }

@test "--network: pods that start at once share a user namespace, and reach each other by name" {
  local first=$POD.one second=$POD.two one two
  container app 'mkdir /www; hostname >/www/index.html; exec busybox httpd -f -p 8080 -h /www'
  POD=$first run_pod --detach --network shop & one=$!
  pod run --images images --net none --grace 1 --name "$second" --detach --network shop app.yaml </dev/null >/dev/null 2>&1 3>&- 4>&- & two=$!
  wait $one && wait $two
  eventually answers "$first" "$second"
  eventually answers "$second" "$first"
  pod restart "$second"
  eventually answers "$first" "$second"
  pod delete --force "$first"
  pod delete --force "$second"
  [[ ! -e $DATA/networks/shop ]]
  nothing_left
  container broken 'exit 3'
  run run_pod --network shop --wait-ready=5 --restart never
  [[ $status != 0 ]]
  [[ ! -e $DATA/networks/shop ]]
  run run_pod --network shop --user nobody-there
  [[ $status == 1 && ! -e $DATA/networks/shop ]]
  # A signal before the pod is a member, while the document is read.
  mkfifo document
  exec 9<>document
  pod run --images images --net none --network shop - <&9 >/dev/null 2>&1 3>&- 4>&- &
  eventually test -s "$DATA/networks/shop/network.json"
  kill "$(awk '/^PPid:/ {print $2}' "/proc/$(jq .holder.pid "$DATA/networks/shop/network.json")/status")"
  wait $! || true
  eventually test ! -e "$DATA/networks/shop"
}

@test "cp as root of the pod's user namespace: the user owns what comes out, the container's root what goes in; the user's rights count" {
  container app 'echo mine >/f; chown 1000 /f; chmod 600 /f; ln -s /etc /way; mkdir /in; echo ready; exec sleep 1000'
  run_pod --detach
  eventually has_lines app 1
  pod cp "$POD:/f" "$HOME_DIR/f"
  equal "mine 12345 600" "$(<"$HOME_DIR/f") $(stat -c '%u %a' "$HOME_DIR/f")"
  pod cp "$HOME_DIR/f" "$POD:/in"
  equal "0:0 600" "$(pod exec "$POD" stat -c '%u:%g %a' /in/f)"
  pod cp --user 1000:1001 "$HOME_DIR/f" "$POD:/in/g"
  equal "1000:1001" "$(pod exec "$POD" stat -c '%u:%g' /in/g)"
  equal "$((FIRST_UID + 999))" "$(stat -c %u "$(find "$DATA/pods/$POD" -path '*/in/g')")"
  echo secret >"$TMP/of-root" && chmod 600 "$TMP/of-root"
  run pod cp "$TMP/of-root" "$POD:/in"
  equal 1 "$status"
  output_mentions "permission denied"
  mkdir "$TMP/closed" && chmod 700 "$TMP/closed"
  run pod cp "$POD:/f" "$TMP/closed/f"
  equal 1 "$status"
  output_mentions "permission denied"
  pod cp "$POD:/way" "$HOME_DIR/way"
  equal /etc "$(readlink "$HOME_DIR/way")"
}

@test "stats and ports: traffic of the pod, what its cgroup counts if one is delegated, and nothing otherwise" {
  container app 'exec sleep 1000'
  run_pod --detach
  equal '["app",0,0,0]' "$(pod stats --format json "$POD" | jq -c '.[0] | [.container, .restarts, .networkSentBytes, .networkReceivedBytes]')"
  if [[ $(jq -r .cgroup "$DATA/pods/$POD/pod.json") == "" ]]; then
    equal '[null,null,null,null]' "$(pod stats --format json "$POD" | jq -c '.[0] | [.cpuPercent, .cpuNanoseconds, .memoryBytes, .pids]')"
    has "app        -      -" "$(pod stats --no-stream "$POD" | tail -n 1)"
  else
    equal true "$(pod stats --format json "$POD" | jq -c '.[0].memoryBytes > 0')"
  fi
  equal "$POD: has no ports" "$(pod ports "$POD")"
}

@test "volumes of the host that are files: one that the user may read, one that is made for the user, a socket, a device" {
  echo text >file
  python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("sock")'
  chown 12345:12345 file sock
  cat >app.yaml <<END
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  restartPolicy: Never
  volumes: [{name: f, hostPath: {path: $HOME_DIR/file, type: File}}, {name: s, hostPath: {path: $HOME_DIR/sock}},
    {name: d, hostPath: {path: $HOME_DIR/made/dir, type: DirectoryOrCreate}}, {name: "n", hostPath: {path: $HOME_DIR/new, type: FileOrCreate}},
    {name: z, hostPath: {path: /dev/zero, type: CharDevice}}]
  containers: [{name: a, image: base, args: ["cat /f; stat -c %F /s; touch /d/x; echo made >/n; head -c 3 /z | wc -c"], volumeMounts: [
    {name: f, mountPath: /f}, {name: s, mountPath: /s}, {name: d, mountPath: /d}, {name: "n", mountPath: /n}, {name: z, mountPath: /z}]}]
END
  run_pod
  equal $'text\nsocket\n3' "$(said)"
  equal "12345 755 12345 644 made" "$(stat -c '%u %a' made/dir new | paste -sd' ') $(<new)"
  [[ -e made/dir/x ]]
}
