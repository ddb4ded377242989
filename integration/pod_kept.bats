# Volumes of `--volume NAME`, which stay when their pods are deleted, and `ocirun pod volumes`.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

# with_volume SCRIPT [PATH]: app.yaml with a container that mounts the persistent volume "data" at PATH and runs the script.
with_volume() {
  cat >app.yaml <<END
name: shop
type: Radius.Compute/containers@2025-08-01-preview
properties:
  containers:
    app:
      image: base
      command: [/bin/sh, -c]
      args: [$(jq -Rs . <<<"$1")]
      volumeMounts: {v: {mountPath: ${2:-/data}, volumeName: data}}
  volumes: {data: {persistentVolume: {resourceId: data}}}
END
}
kept() { echo "data/volumes/data/$1"; }

@test "a kept volume has the image's content and owner at first, stays over delete, and is shared by its name" {
  mkdir -p "$BUNDLE/rootfs/data/below"
  echo of-the-image >"$BUNDLE/rootfs/data/below/file"
  chown -R 7:8 "$BUNDLE/rootfs/data" && chmod 2770 "$BUNDLE/rootfs/data"
  rm -r images
  make_image images base '{"Entrypoint":["/bin/sh","-c"]}' "$BUNDLE/rootfs"
  with_volume 'cat /data/below/file; stat -c "%u:%g %a" /data; echo mine >/data/own; rm /data/below/file'
  run run_pod --restart never --volume data
  equal 0 "$status"
  equal $'of-the-image\n7:8 2770' "$(<output)"
  equal mine "$(cat "$(kept own)")"
  equal data "$(ls -A data/volumes)"
  # It is filled once.
  with_volume 'ls -A /data /data/below | xargs; exec sleep 1000'
  run_pod --detach --volume data
  eventually has_lines app 1
  equal "/data: below own /data/below:" "$(pod logs "$POD")"
  local first=$POD
  POD=${POD}b
  run run_pod --restart never --volume data:ro
  equal "[{\"name\":\"data\",\"pods\":[\"$first\"]}]" "$(pod volumes --format json | jq -c .)"
}

@test "pod volumes lists, removes and prunes; a volume of a pod that runs or has ended is refused" {
  with_volume 'exec sleep 1000'
  run_pod --detach --volume data
  mkdir data/volumes/other
  equal "data  $POD
other" "$(pod volumes)"
  run pod volumes remove data
  equal 1 "$status"
  output_mentions "the volume \"data\" belongs to $POD: \`ocirun pod delete\` first"
  pod stop "$POD"
  equal other "$(pod volumes prune)"
  equal "data  $POD" "$(pod volumes list)"
  pod delete "$POD"
  run pod volumes remove absent
  output_mentions 'there is no volume "absent"'
  pod volumes remove data
  equal "" "$(ls -A data/volumes)"
  run pod volumes remove
  output_mentions "remove: the names of volumes are missing"
  run pod volumes lost
  output_mentions '"lost": must be list, remove or prune'
}

@test "a filling that was cut off begins again; a failed run leaves a volume that the next one fills" {
  mkdir -p "$BUNDLE/rootfs/data" && echo whole >"$BUNDLE/rootfs/data/file"
  rm -r images
  make_image images base '{"Entrypoint":["/bin/sh","-c"]}' "$BUNDLE/rootfs"
  with_volume 'cat /data/file; ls -A /data | wc -l'
  mkdir -p data/volumes/data && chmod -R 700 data
  touch data/volumes/.data.new data/volumes/data/half
  run run_pod --restart never --volume data
  equal $'whole\n1' "$(<output)"
  equal data "$(ls -A data/volumes)"
}

@test "a kept volume of which a part is mounted first is not filled later" {
  mkdir -p "$BUNDLE/rootfs/data" && echo whole >"$BUNDLE/rootfs/data/file"
  rm -r images
  make_image images base '{"Entrypoint":["/bin/sh","-c"]}' "$BUNDLE/rootfs"
  cat >app.yaml <<'END'
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: app}
spec:
  template:
    spec:
      containers:
      - image: base
        command: [/bin/sh, -c, "echo own >/part/own; while :; do nc -l -p $PORT </dev/null >/dev/null; done"]
        volumeMounts: [{name: v, mountPath: /part, subPath: part}]
      volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
END
  run_pod --detach --volume data || show_output
  pod delete --force "$POD"
  with_volume 'cd /data; find . -type f | xargs'
  run run_pod --restart never --volume data
  equal ./part/own "$(<output)"
}

@test "--replace of a pod with a new kept volume makes nothing for its trial; wrong names and forms are told" {
  container app 'exec sleep 1000'
  run_pod --detach --replace
  local first
  first=$(says '.containers[0].pid')
  with_volume 'exec sleep 1000' /bin/sh # a directory over a file of the image
  run run_pod --detach --replace --volume data
  equal 1 "$status"
  equal "$first" "$(says '.containers[0].pid')"
  [[ ! -e data/volumes/data ]]
  run run_pod --volume ../data
  has '--volume ../data: a volume that ocirun keeps has a name of 1 to 63 letters' "$(<output)"
  run run_pod --volume data=
  has '--volume data=: must have the form NAME=HOSTPATH[:ro] or NAME[:ro]' "$(<output)"
  run run_pod --volume data --volume data=/x
  has '--volume data=/x: the name is given twice' "$(<output)"
  run run_pod --volume dota
  has '--volume dota: the document names none of this name (did you mean data?)' "$(<output)"
}

@test "a foreign file among the pods or the volumes is none: the commands on all pods go on" {
  local command
  mkdir -m 700 -p data/{pods,volumes/own}
  for command in pods volumes; do
    echo 1 >data/$command/abc.pid
    ln -s /nonexistent data/$command/link
    mkfifo data/$command/pipe
  done
  for command in status "stats --no-stream" ports "images prune"; do
    # shellcheck disable=SC2086 # a command and its option
    run pod $command
    succeeds
    output_never_mentions abc.pid
  done
  run pod volumes
  succeeds own
}
