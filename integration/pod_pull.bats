# Images from Debian's docker-registry on the loopback device: what is pulled when, which digest runs, and what the store keeps.

load lib/common
source "$LIB/pod-scene.bash"
source "$LIB/registry.bash"

setup() {
  registry_setup
  start_registry
}

teardown() {
  stop_helpers
  delete_pods
  common_teardown
}

stop_registry() { stop_helpers; }

# second: adds the image "base" with another command to the layout more.
second() { make_image more base '{"Entrypoint":["/bin/sh","-c"],"Env":["SECOND=1"]}' "$BUNDLE/rootfs"; }

@test "run pulls what the store lacks, and later runs need no registry" {
  push web:1
  from_registry web:1 'echo it runs'
  run_pulled
  equal 'it runs' "$(<output)"
  pod images >listed
  has "$REGISTRY/web:1" "$(<listed)"
  stop_registry
  run_pulled
  equal 'it runs' "$(<output)"
  run_pulled --pull never
  equal 'it runs' "$(<output)"
  run ocirun pod plan --data data --pull missing -o out app.yaml
  succeeds
  run_pulled --pull always && false
  has 'connection refused' "$(<output)"
  is_whole
}

@test "--pull: always takes a moved tag, missing does not, never pulls nothing" {
  push web
  from_registry web 'echo "second: $SECOND"'
  run_pulled --pull never && false
  has "container \"app\": pull $REGISTRY/web:latest: the store has no such image, and nothing may be pulled" "$(<output)"
  run_pulled
  second
  push_from oci:more:base web
  run_pulled
  equal 'second: ' "$(<output)"
  run_pulled --pull always
  equal 'second: 1' "$(<output)"
  run_pulled
  equal 'second: 1' "$(<output)"
  run pod run --pull sometimes app.yaml
  exits 1 '--pull sometimes: must be always, missing or never'
}

@test "imagePullPolicy of a Knative document is its rule, and --pull is stronger" {
  push web
  cat >app.yaml <<YAML
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: app}
spec: {template: {spec: {containers: [{image: $REGISTRY/web, imagePullPolicy: Never, args: ['echo fine; exec sleep 100']}]}}}
YAML
  run ocirun pod plan --data data --plain-http "$REGISTRY" -o out app.yaml
  exits 1 'nothing may be pulled'
  run ocirun pod plan --data data --plain-http "$REGISTRY" --pull missing -o out app.yaml
  succeeds
  sed -i 's/Never/Always/' app.yaml
  stop_registry
  run ocirun pod plan --data data --plain-http "$REGISTRY" -o again app.yaml
  exits 1 'connection refused'
  sed -i 's/Always/IfNotPresent/' app.yaml
  run ocirun pod plan --data data -o again app.yaml
  succeeds
}

@test "pull takes references and documents, prints digests, and downloads a layer once" {
  push web:1
  second
  push_from oci:more:base other:2
  pull "$REGISTRY/web:1"
  succeeds
  equal "$(digest_of web:1)  $REGISTRY/web:1" "$output"
  pull "docker://$REGISTRY/other:2" "$REGISTRY/web:1"
  succeeds
  # Both images have the same layer.
  equal 5 "$(store | grep -c ./blobs/)"
  from_registry web:1 true
  pull app.yaml
  equal "$(digest_of web:1)  $REGISTRY/web:1" "$output"
  pull --image "app=docker://$REGISTRY/other:2" app.yaml
  equal "$(digest_of other:2)  $REGISTRY/web:1" "$output"
  pull none.yaml
  exits 1 'none.yaml: no such file or directory'
  pull Web
  exits 1 'image "Web": "Web" must be lower-case letters and digits'
  pull
  exits 1 'DOCUMENT|REFERENCE... is missing'
  is_whole
}

@test "a layout of --images, and --image with a path, are taken before a registry" {
  from_registry web 'echo local'
  run_pulled --images images && false
  has "--images images: images: no image \"$REGISTRY/web\", it has \"base\"" "$(<output)"
  has 'manifest unknown' "$(<output)"
  run_pulled --image app=images:base
  equal local "$(<output)"
  push web
  run_pulled --images images
  equal local "$(<output)"
  make_image images "$REGISTRY/web" '{"Entrypoint":["/bin/sh","-c"],"Env":["SECOND=1"]}' "$BUNDLE/rootfs"
  rm app.yaml
  from_registry web 'echo "second: $SECOND"'
  run_pulled --images images --pull always
  equal 'second: 1' "$(<output)"
  run_pulled --image "app=docker://$REGISTRY/web"
  equal 'second: ' "$(<output)"
}

# list NAME TAG ARCHITECTURE: makes $REGISTRY/NAME:TAG an index of $REGISTRY/NAME:latest, said to be for that machine.
list() {
  local manifest
  manifest=$(skopeo inspect --raw --tls-verify=false "docker://$REGISTRY/$1")
  printf '{"schemaVersion":2,"mediaType":"%s","manifests":[{"mediaType":"%s","digest":"%s","size":%s,
    "platform":{"os":"linux","architecture":"%s"}}]}' "$INDEX" application/vnd.oci.image.manifest.v1+json "$(digest_of "$1")" \
    "$(printf %s "$manifest" | wc -c)" "$3" >list
  curl --silent --show-error --fail --upload-file list -H "Content-Type: $INDEX" "http://$REGISTRY/v2/$1/manifests/$2"
}
INDEX=application/vnd.oci.image.index.v1+json
machine() { skopeo inspect --tls-verify=false "docker://$REGISTRY/$1" | jq -r .Architecture; }

@test "a digest in the document is the digest that runs: of a manifest, of an index, of a docker manifest" {
  push web
  push docker --format v2s2
  list web all "$(machine web)"
  local manifest index docker name
  manifest=$(digest_of web) index=$(digest_of web:all) docker=$(digest_of docker)
  second
  push_from oci:more:base web
  for name in "web@$manifest" "web:latest@$manifest" "docker@$docker" "web@$index"; do
    rm -f app.yaml
    from_registry "$name" 'echo "second: $SECOND"'
    run_pulled --pull always
    equal 'second: ' "$(<output)"
  done
  # The index and the manifest in it are kept, and later served without the registry.
  stop_registry
  for name in "web@$index" "web@$manifest"; do
    rm app.yaml
    from_registry "$name" 'echo "second: $SECOND"'
    run_pulled
    equal 'second: ' "$(<output)"
  done
}

@test "of an index the image for this machine runs, and without one the error names the others" {
  push web
  list web mine "$(machine web)"
  list web far s390x
  from_registry web:mine 'echo mine'
  run_pulled
  equal mine "$(<output)"
  pull "$REGISTRY/web:far"
  exits 1 'it has no image for linux/'
  output_mentions 'only for "linux/s390x"'
  is_whole
}

@test "layers of zstd and plain layers arrive as they are" {
  push zstd --dest-compress --dest-compress-format zstd
  push plain --preserve-digests
  skopeo inspect --raw --tls-verify=false "docker://$REGISTRY/zstd" | jq -r '.layers[].mediaType' >type
  has +zstd "$(<type)"
  skopeo inspect --raw --tls-verify=false "docker://$REGISTRY/plain" | jq -r '.layers[].mediaType' >type
  has .tar "$(<type)"
  grep -F +gzip type && false
  from_registry zstd 'echo unpacked'
  run_pulled
  equal unpacked "$(<output)"
  rm app.yaml
  from_registry plain 'echo plain'
  run_pulled
  equal plain "$(<output)"
}

@test "two processes that want one image download it once" {
  push web
  from_registry web 'echo one of two'
  local pids=() status=0 number
  for number in 1 2 3; do
    ocirun pod run --data "$TMP/data" --net none --name "$POD-$number" --plain-http "$REGISTRY" --restart never app.yaml \
      </dev/null >"$TMP/output-$number" 2>&1 3>&- 4>&- &
    pids+=($!)
  done
  for number in "${pids[@]}"; do wait "$number" || status=1; done
  equal 0 "$status"
  for number in 1 2 3; do equal 'one of two' "$(<"output-$number")"; done
  equal 3 "$(store | grep -c ./blobs/)"
  is_whole
}

@test "prune removes the blobs that no pod uses, and what a killed pull has left" {
  push web
  second
  push_from oci:more:base other
  from_registry web 'exec sleep 1000'
  quietly run_pulled --detach
  pull "$REGISTRY/other"
  succeeds
  equal 5 "$(store | grep -c ./blobs/)"
  mkdir -p data/images/incoming/left && echo part >data/images/incoming/left/part
  run pod images prune
  succeeds "$(digest_of other)  $REGISTRY/other"
  equal 3 "$(store | grep -c ./blobs/)"
  is_whole
  equal "[\"$REGISTRY/web:latest\"]" "$(jq -c '[.manifests[].annotations[]]' data/images/index.json)"
  pod delete --force "$POD"
  run pod images prune
  succeeds
  equal '' "$(store | grep ./blobs/)"
  equal 0 "$(jq '.manifests | length' data/images/index.json)"
}

@test "a damaged blob of the store is noticed, and the next pull mends it" {
  push web
  pull "$REGISTRY/web"
  local layer
  layer=$(skopeo inspect --raw --tls-verify=false "docker://$REGISTRY/web" | jq -r '.layers[0].digest[7:]')
  printf x >>"data/images/blobs/sha256/$layer"
  pull "$REGISTRY/web"
  exits 1 'the store had a damaged layer, which is removed now: pull again'
  pull "$REGISTRY/web"
  succeeds
  (cd data/images/blobs/sha256 && sha256sum --quiet --check <<<"$layer  $layer")
}

@test "a store of podman is read through skopeo, each time anew" {
  command -v podman >/dev/null || skip 'podman is not installed: `./dev clients podman` installs it'
  local store="[vfs@$TMP/storage+$TMP/run]localhost/made:latest"
  skopeo copy --quiet oci:images:base "containers-storage:$store"
  container app 'echo "second: $SECOND"'
  run_pulled --image "app=containers-storage:$store"
  equal 'second: ' "$(<output)"
  second
  skopeo copy --quiet oci:more:base "containers-storage:$store"
  run_pulled --image "app=containers-storage:$store"
  equal 'second: 1' "$(<output)"
  run_pulled --image "app=containers-storage:$store" --pull never
  equal 'second: 1' "$(<output)"
  run_pulled --image app=docker-daemon:none:latest && false
  has '--image app=docker-daemon:none:latest: pull docker-daemon:none:latest: skopeo: ' "$(<output)"
}
