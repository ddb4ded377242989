# The bundles of `ocirun pod plan`: any runtime runs them, and after an error none is left.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

@test "plan writes bundles that another command runs; images lists and prunes" {
  container app 'cat /etc/note; ls /v; echo ran' 'config: [{path: /etc/note, value: "note\n"}]'
  pod plan --images images -o out app.yaml >output
  equal "$TMP/out/app" "$(<output)"
  equal $'note' "$(ocirun run --bundle out/app "$ID" 2>/dev/null | head -1)"
  run pod plan --images images -o out app.yaml
  equal 1 "$status"
  output_mentions "$TMP/out exists: the bundles are written into a new directory"
  like '^sha256:[0-9a-f]{64}  base$' "$(pod images)"
  equal 1 "$(find data/images/layers -mindepth 1 -maxdepth 1 | wc -l)"
  equal "$(pod images)" "$(pod images prune)"
  equal "" "$(pod images)"
  equal 0 "$(find data/images/layers -mindepth 1 -maxdepth 1 | wc -l)"
}

@test "plan leaves nothing of its directory: a later container's error, no room on stdout, a signal; an empty directory stays empty" {
  local signal
  container app true
  container other true
  sed -i '/name: other/,$ s/image: base/image: none/' app.yaml
  run pod plan --images images -o out app.yaml
  equal 1 "$status"
  is_gone out
  sed -i 's/image: none/image: base/' app.yaml
  run bash -c '"$0" pod plan --data data --images images -o out app.yaml >/dev/full' "$OCIRUN"
  equal 1 "$status"
  output_mentions 'no space left on device'
  is_gone out
  for signal in TERM KILL; do
    "$OCIRUN" pod plan --data data --images images -o out app.yaml >/dev/null 3>&- 4>&- &
    until [[ -e out ]]; do :; done
    kill -s "$signal" $!
    wait $! || true
    eventually is_gone out
  done
  mkdir out
  run pod plan --images images -o out app.yaml
  equal 1 "$status"
  equal "" "$(ls -A out)"
}
