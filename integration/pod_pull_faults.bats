# A registry that hangs, lies, breaks off or sends elsewhere: a clear error in bounded time, and the store as before.

load lib/common
source "$LIB/pod-scene.bash"
source "$LIB/registry.bash"

setup() {
  common_setup
  needs_registry
  mkdir first second
  echo one >first/file
  head -c 300000 /dev/urandom >second/file
  make_image images base '{"Cmd":["/bin/sh"]}' "$TMP/first" "$TMP/second"
  trust
}

teardown() {
  stop_helpers
  [[ -z ${BESIDE:-} ]] || kill "$BESIDE" 2>/dev/null || true
  common_teardown
}

# serve FAULT: lib/hostile-registry at $REGISTRY.
serve() {
  helper "$LIB/hostile-registry" "${REGISTRY#*:}" images "$1"
  eventually answers
}

# fails_to_pull WORDS [OPTION…]: a pull fails, says the words, and leaves nothing.
fails_to_pull() {
  pull "${@:2}" "$REGISTRY/web"
  exits 1 "$1"
  output_mentions "ocirun: pod pull: pull $REGISTRY/web:latest: "
  equal 1 "$(wc -l <<<"$output")"
  is_whole
  equal '' "$(find data/images -name '[0-9a-f]*' -size +0 -type f)"
  equal 0 "$(pgrep --count --exact skopeo || true)"
}

@test "the hostile registry without a fault serves the image" {
  serve none
  pull "$REGISTRY/web"
  succeeds
}

@test "a registry that does not answer, or stops in the middle of a layer, is given up" {
  serve silent
  fails_to_pull 'nothing has arrived for 2 s (--pull-timeout SECONDS)' --pull-timeout 2
  stop_helpers
  serve stuck
  fails_to_pull 'nothing has arrived for 2 s (--pull-timeout SECONDS)' --pull-timeout 2
  run pod pull --pull-timeout 0 "$REGISTRY/web"
  exits 1 '--pull-timeout 0: must be at least 1'
}

@test "too many requests: the registry's word is told" {
  serve too-many
  fails_to_pull 'toomanyrequests: slow down (the registry limits your requests: try later, or log in)'
}

@test "another manifest than the wanted digest is refused" {
  serve other
  local digest
  digest=$(jq -r '.manifests[0].digest' images/index.json)
  pull "$REGISTRY/web@$digest"
  exits 1 'the registry has sent a manifest with the digest sha256:'
  output_mentions "for $digest"
  is_whole
}

@test "a changed layer, half a layer and a layer without end are refused" {
  serve changed
  fails_to_pull '(the registry has sent other bytes than its manifest lists)'
  stop_helpers
  serve half
  fails_to_pull '(the registry has ended the connection in the middle of a blob)'
  stop_helpers
  serve endless
  fails_to_pull 'bytes have arrived that the manifest lists'
}

@test "a changed configuration is refused, and a manifest that is another one at the second question" {
  serve config
  fails_to_pull 'does not match expected sha256:'
  stop_helpers
  serve turns
  fails_to_pull 'Manifest does not match provided manifest digest'
}

# edit_manifest FILTER [OPTION…]: edits the manifest of the layout images by a filter of jq.
edit_manifest() {
  local old new
  old=$(jq -r '.manifests[0].digest | sub("sha256:"; "")' images/index.json)
  jq -c "$@" "images/blobs/sha256/$old" >edited
  new=$(sha256sum edited | cut -c -64)
  jq -c --arg d "sha256:$new" --argjson s "$(stat -c %s edited)" '.manifests[0] += {digest: $d, size: $s}' images/index.json >index
  mv edited "images/blobs/sha256/$new"
  mv index images/index.json
}

# serve_beside: a second registry of the host's loopback, which writes each request to asked, until the test ends.
serve_beside() {
  "$LIB/hostile-registry" 5001 images none </dev/null >"$TMP/asked" 2>&1 3>&- 4>&- &
  BESIDE=$!
}

@test "places that an image names beside its registry are not asked, however Go would read their name" {
  serve_beside
  local part name
  cp -r images plain
  for part in config layers/1; do
    for name in urls URLs 'urlſ'; do
      rm -rf images
      cp -r plain images
      edit_manifest 'getpath($at | split("/") | map(tonumber? // .)) as $blob | setpath($at | split("/") | map(tonumber? // .);
        $blob + {($name): ["http://127.0.0.1:5001/v2/web/blobs/" + $blob.digest]})' --arg at $part --arg name "$name"
      serve none
      fails_to_pull "/$part/$name: names places beside the registry, which skopeo would ask from this machine's network"
      stop_helpers
    done
  done
  kill "$BESIDE"
  equal '' "$(<asked)"
  # An empty list names none.
  rm -rf images
  cp -r plain images
  edit_manifest '.config.urls = []'
  serve none
  pull "$REGISTRY/web"
  succeeds
}

@test "control: skopeo asks the place that a configuration names, from the host's network" {
  serve_beside
  edit_manifest '.config |= . + {"urlſ": ["http://127.0.0.1:5001/v2/web/blobs/" + .digest]}'
  serve none
  run skopeo copy --src-tls-verify=false "docker://$REGISTRY/web" "oci:$TMP/copied:web"
  succeeds
  kill "$BESIDE"
  has "GET 127.0.0.1:5001 /v2/web/blobs/" "$(<asked)"
}

@test "credentials of a registry are not sent to the host to which it sends on" {
  serve away
  skopeo login --tls-verify=false --authfile "$XDG_RUNTIME_DIR/containers/auth.json" -u someone -p secret "$REGISTRY" >/dev/null
  pull "$REGISTRY/web"
  succeeds
  equal 2 "$(grep -c "^GET $REGISTRY /v2/web/manifests/.* with credentials" helper.log)"
  equal 2 "$(grep -c '^GET localhost:5000 /v2/web/blobs/' helper.log)"
  grep 'localhost.*credentials' helper.log && false
  return 0
}

@test "redirects to nowhere and in a circle, and an error of the server" {
  serve nowhere
  fails_to_pull 'Get "http://127.0.0.1:9/layer": dial tcp 127.0.0.1:9: connect: connection refused'
  stop_helpers
  serve circle
  fails_to_pull 'stopped after 10 redirects'
  stop_helpers
  serve broken
  fails_to_pull '500 (Internal Server Error)'
}

@test "controls in a registry's message do not reach the terminal" {
  serve escapes
  fails_to_pull 'manifest unknown: \x1b]0;title?gone'
}

@test "an unknown host and a refused connection are told" {
  pull "$REGISTRY/web"
  exits 1 "dial tcp $REGISTRY: connect: connection refused"
  pull registry.invalid/web
  exits 1 'lookup registry.invalid'
}

@test "a signal ends a pull and skopeo, and the next pull removes what is left" {
  serve stuck
  # The process itself gets the signal, not a process around it.
  helper "$OCIRUN" pod pull --data data --plain-http "$REGISTRY" "$REGISTRY/web"
  eventually has_begun
  kill -TERM "$HELPER"
  wait "$HELPER" && false
  eventually no_skopeo
  equal 1 "$(ls data/images/incoming | wc -l)"
  kill -KILL "${HELPERS[0]}"
  wait "${HELPERS[0]}" || true
  serve none
  pull "$REGISTRY/web"
  succeeds
  is_whole
}
has_begun() { [[ -n $(find data/images/incoming -name 'oci-put-blob*' 2>/dev/null) ]]; }
no_skopeo() { ! pgrep --exact skopeo >/dev/null; }

@test "on a terminal each layer has a line, and Ctrl-C ends the pull" {
  serve none
  run "$LIB/pty" --size 24x120 "$OCIRUN" pod pull --data data --plain-http "$REGISTRY" "$REGISTRY/web"
  output_mentions 'status 0'
  equal 2 "$(grep -o 'Copying blob [0-9a-f]\{12\} done' <<<"$output" | sort -u | wc -l)"
  output_mentions 'layer 2 of 2: 100 %'
  rm -rf data
  stop_helpers
  serve stuck
  # The sandbox ignores SIGINT, which a shell does not.
  run "$LIB/pty" --size 24x120 --when 'Copying blob' --input '\x03' env --default-signal=INT \
    "$OCIRUN" pod pull --data data --pull-timeout 40 --plain-http "$REGISTRY" "$REGISTRY/web"
  output_never_mentions 'nothing has arrived'
  matches 'status (130|-2|2)'
  output_never_mentions 'terminal changed'
  eventually no_skopeo
}
