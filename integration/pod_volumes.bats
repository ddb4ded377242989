# What the containers of a pod are given as files: overlays as roots, volumes with limits, directories of the host.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

# knative SCRIPT VOLUME: a Knative service whose container answers on its port, runs a script and has a volume, `emptyDir: …`, at /v.
knative() {
  local answers='while :; do nc -l -p 8080 >/dev/null; done &'
  cat >app.yaml <<END
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: hello}
spec:
  template:
    spec:
      containers: [{name: app, image: base, command: [/bin/sh, -c], args: [$(jq -Rs . <<<"$answers $1")],
        volumeMounts: [{name: v, mountPath: /v}]}]
      volumes: [{name: v, $2}]
END
}

# supervised FILTER: what the supervisor's mount table says, of the mounts below the pod's directory.
supervised() { grep "/pods/$POD/" "/proc/$(says .supervisor)/mountinfo" | grep -c -- "$1"; }
loop_devices() { grep -l "$TMP" /sys/block/loop*/loop/backing_file 2>/dev/null || true; }
is_released() { [[ -z $(loop_devices) ]]; }

@test "the root of a container is an overlay of the layers of its image, which stay as they are" {
  container app 'echo changed >/etc/passwd; rm /bin/vi; sleep 1000'
  run_pod --detach
  equal 1 "$(supervised ' - overlay ')"
  eventually grep -q changed data/pods/"$POD"/containers/app/upper.1/etc/passwd
  equal "" "$(grep -l changed data/images/layers/*/etc/passwd)"
  pod delete --force "$POD"
  equal "" "$(pod_names)"
}

@test "a directory on disk with a limit: ENOSPC within, its data stays when the container is started again, nothing is left" {
  [[ -e /dev/loop-control && -x $(command -v mkfs.ext4) ]] || skip "needs loop devices and e2fsprogs"
  knative 'stat -c "%a %u %F" /v; ls -A /v; [ ! -e /v/second ] || sleep 1000; dd if=/dev/zero of=/v/big bs=64k count=100 2>&1 | grep -v records; df -m /v | tail -1 | grep -o " /v"
    touch /v/second; exit 1' 'emptyDir: {sizeLimit: 4Mi}'
  run_pod --detach
  eventually has_lines app 6
  equal '777 0 directory
dd: error writing '"'/v/big'"': No space left on device
 /v
777 0 directory
big
second' "$(pod logs "$POD")"
  equal 1 "$(supervised '/volumes/0 .*nosuid,nodev.* - ext4 ')"
  kill -KILL "$(says .supervisor)"
  pod delete --force "$POD"
  eventually is_released
  equal "" "$(pod_names)"
}

@test "limits on disk that cannot be kept are refused: too small, no mkfs.ext4, a bundle for other runtimes" {
  knative true 'emptyDir: {sizeLimit: 10Ki}'
  run run_pod
  equal 1 "$status"
  has 'app.yaml:9:' "$(<output)"
  has 'volume "v": a limit on disk must be at least 1 MiB, not 10 KiB' "$(<output)"
  knative true 'emptyDir: {sizeLimit: 10Mi}'
  run pod plan --images images -o out app.yaml
  equal 1 "$status"
  output_mentions 'volume "v": a bundle cannot limit a directory on disk to 10 MiB: `ocirun pod run` can'
  [[ ! -e out ]]
  equal "" "$(pod_names)"
}

@test "a directory in memory with a limit" {
  knative 'stat -f -c %T /v; stat -c "%a %u" /v; dd if=/dev/zero of=/v/big bs=64k count=100 2>&1 | grep -v records; sleep 1000' \
    'emptyDir: {medium: Memory, sizeLimit: 1Mi}'
  run_pod --detach
  eventually has_lines app 3
  equal "tmpfs
777 0
dd: error writing '/v/big': No space left on device" "$(pod logs "$POD")"
  pod delete --force "$POD"
  run pod plan --images images -o out app.yaml
  equal 0 "$status"
  output_mentions 'volume "v": in a bundle it is a directory on disk without a limit, not in memory: `ocirun pod run` mounts it'
}

@test "a directory of the host stays the one that it was when the pod began, whatever a container renames above it" {
  mkdir -p host/below secret && echo good >host/below/file && echo bad >secret/file
  cat >app.yaml <<'END'
{"acVersion": "0.8.11", "acKind": "PodManifest", "apps": [
  {"name": "one", "image": {"name": "example.com/one", "id": "sha512-..."},
   "app": {"exec": ["/bin/sh", "-c", "mv /above/below /above/old; ln -s ../secret /above/below; echo moved; sleep 1000"], "user": "0", "group": "0",
           "mountPoints": [{"name": "above", "path": "/above"}]}},
  {"name": "two", "image": {"name": "example.com/two", "id": "sha512-..."},
   "app": {"exec": ["/bin/sh", "-c", "cat /in/file; until [ -e /in/go ]; do sleep 0.1; done; rm /in/go; exit 1"], "user": "0", "group": "0",
           "mountPoints": [{"name": "below", "path": "/in"}]}}], "volumes": []}
END
  run_pod --detach --restart on-failure --image example.com/one=images:base --image example.com/two=images:base \
    --volume "above=$TMP/host" --volume "below=$TMP/host/below"
  eventually has_lines one 1
  eventually has_lines two 1
  touch host/old/go
  eventually has_lines two 2
  equal $'good\ngood' "$(pod logs -c two "$POD")"
  pod delete --force "$POD"

  equal good "$(<host/old/file)"
}

@test "AC-8 readOnly of a mount point is kept also where the manifest itself mounts a volume there" {
  mkdir host
  cat >app.yaml <<END
{"acVersion": "0.8.11", "acKind": "PodManifest", "apps": [
  {"name": "one", "image": {"id": "sha512-..."}, "mounts": [{"volume": "v", "path": "/v"}, {"volume": "v", "path": "/w"}],
   "app": {"exec": ["/bin/sh", "-c", "touch /v/one; touch /w/two"], "user": "0", "group": "0",
           "mountPoints": [{"name": "p", "path": "/v", "readOnly": true}, {"name": "q", "path": "/w"}]}}],
 "volumes": [{"name": "v", "kind": "host", "source": "$TMP/host"}]}
END
  run run_pod --image one=images:base
  equal 0 "$status"
  has "touch: /v/one: Read-only file system" "$(<output)"
  equal two "$(ls host)"
}
