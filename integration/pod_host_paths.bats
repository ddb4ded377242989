# Volumes of a pod that are a file, a socket or a device of the host: every type of hostPath, what it makes, and who may swap it.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

# host_pod SCRIPT VOLUMES [MOUNTS]: a Pod with volumes of the host, each at /NAME unless MOUNTS says more.
host_pod() {
  local mounts
  mounts=${3:-$(grep -oE '\{name: [a-z]+' <<<"$2" | sed 's/{name: \(.*\)/{name: \1, mountPath: \/\1}/' | paste -sd,)}
  cat >app.yaml <<END
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  restartPolicy: Never
  volumes: [$2]
  containers: [{name: a, image: base, args: [$(jq -Rs . <<<"$1")], volumeMounts: [$mounts]}]
END
}

# fails WORDS: the pod does not run, for this reason.
fails() {
  run run_pod
  equal 1 "$status"
  has "$1" "$(<output)"
}

@test "a file, a socket, a fifo and a directory of the host are volumes, with and without the type of hostPath" {
  echo text >file
  mkdir dir
  mkfifo fifo
  python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("sock")'
  host_pod 'stat -c "%F %n" /f /g /s /t /p /d /e; cat /f; echo more >>/g; touch /d/new' \
    "{name: f, hostPath: {path: $TMP/file}}, {name: g, hostPath: {path: $TMP/file, type: File}}, {name: s, hostPath: {path: $TMP/sock}},
     {name: t, hostPath: {path: $TMP/sock, type: Socket}}, {name: p, hostPath: {path: $TMP/fifo, type: ''}},
     {name: d, hostPath: {path: $TMP/dir, type: Directory}}, {name: e, hostPath: {path: $TMP/dir}}"
  run run_pod
  equal 0 "$status"
  equal $'regular file /f\nregular file /g\nsocket /s\nsocket /t\nfifo /p\ndirectory /d\ndirectory /e\ntext' "$(<output)"
  equal $'text\nmore' "$(<file)"
  [[ -e dir/new ]]
}

@test "/etc/localtime, a link of the host, is the file that it leads to; one .conf takes the place of the image's, read-only" {
  echo of-the-zone >zone
  ln -s zone localtime
  echo of-the-host >one.conf
  host_pod 'cat /etc/localtime /etc/passwd; echo x >>/etc/passwd' \
    "{name: zone, hostPath: {path: $TMP/localtime, type: File}}, {name: conf, hostPath: {path: $TMP/one.conf}}" \
    '{name: zone, mountPath: /etc/localtime, readOnly: true}, {name: conf, mountPath: /etc/passwd, readOnly: true}'
  run run_pod
  equal 1 "$status"
  equal $'of-the-zone\nof-the-host' "$(grep ^of- output)"
  has "can't create /etc/passwd: Read-only file system" "$(<output)"
  equal of-the-host "$(<one.conf)"
}

@test "FileOrCreate makes a file of 0644, DirectoryOrCreate a directory of 0755 with its parents, whatever the umask is" {
  umask 077
  mkdir -m 700 made
  host_pod 'echo text >/f; touch /d/new' "{name: d, hostPath: {path: $TMP/made/a/b, type: DirectoryOrCreate}},
    {name: f, hostPath: {path: $TMP/made/a/b/file, type: FileOrCreate}}"
  for _ in first again; do
    run run_pod
    equal 0 "$status"
    delete_pods
    equal "$(printf '%s\n' "755 $EUID made/a" "755 $EUID made/a/b" "644 $EUID made/a/b/file")" "$(stat -c '%a %u %n' made/a made/a/b made/a/b/file)"
  done
  equal text "$(<made/a/b/file)"
}

@test "FileOrCreate makes no directory; nothing is made through a dangling link, or for a pod that does not come about" {
  host_pod true "{name: f, hostPath: {path: $TMP/none/file, type: FileOrCreate}}"
  fails "$TMP/none/file: its directory does not exist, and \"type: FileOrCreate\" makes none: a volume of \"type: DirectoryOrCreate\" for $TMP/none"
  ln -s "$TMP/elsewhere" link
  host_pod true "{name: f, hostPath: {path: $TMP/link, type: FileOrCreate}}"
  fails "$TMP/link: is a symlink that leads nowhere"
  host_pod true "{name: d, hostPath: {path: $TMP/link/below, type: DirectoryOrCreate}}"
  fails "$TMP/link is a symlink that leads nowhere"
  [[ ! -e elsewhere ]]
  host_pod true "{name: d, hostPath: {path: $TMP/none/below, type: DirectoryOrCreate}}, {name: f, hostPath: {path: $TMP/new, type: FileOrCreate}}, {name: x, hostPath: {path: $TMP/absent, type: File}}"
  fails "$TMP/absent: no such file or directory (\"type: FileOrCreate\" makes it)"
  run pod plan --images images --name p -o out app.yaml
  equal 1 "$status"
  [[ ! -e none && ! -e new && ! -e out ]]
  sed -i 's/type: File}}/type: FileOrCreate}}/' app.yaml
  run pod plan --images images --name p -o out app.yaml
  equal 0 "$status"
  [[ -d none/below && -f new && -f absent ]]
}

@test "another kind of file than the type of hostPath says is refused, with the type that fits" {
  mkdir dir
  echo text >file
  host_pod true "{name: v, hostPath: {path: $TMP/dir, type: File}}"
  fails "/spec/volumes/0: volume \"v\": $TMP/dir: is a directory, and not what \"type: File\" asks for: write \"type: Directory\""
  for type in Directory DirectoryOrCreate Socket CharDevice BlockDevice; do
    host_pod true "{name: v, hostPath: {path: $TMP/file, type: $type}}"
    fails "$TMP/file: is a file, and not what \"type: $type\" asks for: write \"type: File\""
  done
  host_pod true "{name: v, hostPath: {path: $TMP/absent}}"
  fails "$TMP/absent: no such file or directory (\"type: DirectoryOrCreate\" makes a directory)"
  host_pod true "{name: v, hostPath: {path: $TMP/file}}" '{name: v, mountPath: /etc}'
  fails "a file cannot take the place of /etc, which is a directory of the image"
  host_pod true "{name: v, hostPath: {path: $TMP/file}}" '{name: v, mountPath: /v, subPath: a}'
  fails "/spec/containers/0/volumeMounts/0: subPath a: the volume \"v\" is no directory: leave out subPath"
}

@test "a device of the host: with its type a container may open it, without a warning says what to write" {
  [[ $EUID == 0 && -c /dev/loop-control ]] || skip "needs root, and a device"
  local open='for d in /x /z; do [ ! -e $d ] || { dd if=$d of=/dev/null bs=1 count=0 2>/dev/null && echo "reads $d"; (: >$d) 2>/dev/null && echo "writes $d"; }; done; true'
  host_pod "$open" '{name: x, hostPath: {path: /dev/loop-control, type: CharDevice}}, {name: z, hostPath: {path: /dev/null}}'
  run run_pod
  equal 0 "$status"
  equal $'reads /x\nwrites /x\nreads /z\nwrites /z' "$(<output)"
  delete_pods
  host_pod "$open" '{name: x, hostPath: {path: /dev/loop-control, type: CharDevice}}' '{name: x, mountPath: /x, readOnly: true}'
  run run_pod
  equal 0 "$status"
  equal 'reads /x' "$(<output)"
  delete_pods
  host_pod "$open" '{name: x, hostPath: {path: /dev/loop-control}}'
  run run_pod
  equal 0 "$status"
  equal "ocirun: warning: app.yaml:6:13: /spec/volumes/0: volume \"x\": /dev/loop-control is a device, which containers see and may not open: \"type: CharDevice\" lets them" \
    "$(<output)"
  delete_pods
  host_pod true '{name: x, hostPath: {path: /dev/loop-control, type: BlockDevice}}'
  fails '/dev/loop-control: is a character device, and not what "type: BlockDevice" asks for: write "type: CharDevice"'
}

@test "a link that a container leaves in its volume leads no other volume of the pod out of it" {
  mkdir shared
  echo secret >secret
  echo good >shared/conf
  host_pod 'cat /f; rm /d/conf; ln -s ../secret /d/conf' "{name: d, hostPath: {path: $TMP/shared}}, {name: f, hostPath: {path: $TMP/shared/conf}}"
  run run_pod
  equal 0 "$status"
  equal good "$(<output)"
  delete_pods
  fails "$TMP/shared/conf: a symlink leads out of $TMP/shared, where containers of this pod can write: write the path that it leads to"
  rm shared/conf
  ln -s "$TMP/made" shared/conf
  sed -i "s|shared/conf}|shared/conf, type: FileOrCreate}|" app.yaml
  fails "$TMP/shared/conf: is a symlink that leads nowhere"
  [[ ! -e made ]]
}

@test "--volume NAME=FILE gives a claim or a mount point a file or a socket; a device is refused" {
  echo text >file
  host_pod 'cat /v' "{name: v, persistentVolumeClaim: {claimName: c}}"
  run run_pod --volume "c=$TMP/file"
  equal 0 "$status"
  equal text "$(<output)"
  delete_pods
  run run_pod --volume "c=/dev/zero"
  equal 1 "$status"
  has '/dev/zero: is a device, and --volume gives a directory, a file or a socket: --device gives a device of a CDI specification' "$(<output)"
  cat >app.yaml <<'END'
{"acVersion": "0.8.11", "acKind": "PodManifest", "apps": [{"name": "one", "image": {"id": "sha512-..."},
   "app": {"exec": ["/bin/sh", "-c", "cat /etc/passwd /x"], "user": "0", "group": "0", "mountPoints": [{"name": "p", "path": "/etc/passwd"}]},
   "mounts": [{"volume": "v", "path": "/x"}]}], "volumes": [{"name": "v", "kind": "host", "source": "FILE", "readOnly": true}]}
END
  sed -i "s|FILE|$TMP/file|" app.yaml
  run run_pod --image one=images:base --volume "p=$TMP/file:ro"
  equal 0 "$status"
  equal $'text\ntext' "$(<output)"
}

@test "bundles of plan bind the same files, and let a container open the device" {
  [[ $EUID == 0 && -c /dev/loop-control ]] || skip "needs root, and a device"
  echo text >file
  host_pod true "{name: f, hostPath: {path: $TMP/file, type: File}}, {name: x, hostPath: {path: /dev/loop-control, type: CharDevice}}" \
    '{name: f, mountPath: /f}, {name: x, mountPath: /x, readOnly: true}'
  pod plan --images images --name p -o out app.yaml
  equal "$TMP/file" "$(jq -r '.mounts[] | select(.destination == "/f").source' out/a/config.json)"
  equal '{"allow":true,"type":"c","major":10,"minor":237,"access":"r"}' "$(jq -c '.linux.resources.devices[1]' out/a/config.json)"
}

@test "the trial of --replace makes nothing on the host; the pod that takes the place does, and an absent image makes nothing either" {
  host_pod 'sleep 1000' "{name: d, hostPath: {path: $TMP/made/dir, type: DirectoryOrCreate}}, {name: f, hostPath: {path: $TMP/new, type: FileOrCreate}}"
  run_pod --detach
  [[ -d made/dir && -f new ]]
  rm -r made new
  sed -i 's/image: base/image: absent/' app.yaml
  run run_pod --detach --replace --pull never
  equal 1 "$status"
  [[ ! -e made && ! -e new ]]
  sed -i 's/image: absent/image: base/; s/volumeMounts: .{name: d/&, subPath: a, readOnly: true/' app.yaml
  run run_pod --detach --replace=always
  equal 0 "$status"
  [[ -d made/dir/a && -f new ]]
}
