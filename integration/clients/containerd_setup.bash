# shellcheck shell=bash disable=SC2016 # what is quoted is for the shell in the container
# Starts containerd for ctr, and makes the image for the lists of containerd (ctr) and cri.
export CONTAINERD_ADDRESS=/run/c8d.sock

# make_image [CONFIG-FIELDS]: makes $WORK/oci.tar, an OCI image of one layer. ctr imports no other format.
make_image() {
  local layer config fields=${1:-}
  mkdir -p "$WORK/oci/blobs/sha256"
  layer=$(put "$(image_archive)")
  printf '{"architecture":"amd64","os":"linux","config":{%s"Env":["PATH=/bin"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' "$fields" "$layer" >"$WORK/image.json"
  config=$(put "$WORK/image.json")
  printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:%s","size":%d},"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar","digest":"sha256:%s","size":%d}]}' \
    "$config" "$(stat -c %s "$WORK/image.json")" "$layer" "$(stat -c %s "$WORK/image.tar")" >"$WORK/manifest.json"
  printf '{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:%s","size":%d,"annotations":{"org.opencontainers.image.ref.name":"latest","io.containerd.image.name":"localhost/busybox:latest"}}]}' \
    "$(put "$WORK/manifest.json")" "$(stat -c %s "$WORK/manifest.json")" >"$WORK/oci/index.json"
  echo '{"imageLayoutVersion":"1.0.0"}' >"$WORK/oci/oci-layout"
  tar -C "$WORK/oci" -cf "$WORK/oci.tar" .
}

put() {
  local sum
  sum=$(sha256sum "$1" | cut -d' ' -f1)
  cp "$1" "$WORK/oci/blobs/sha256/$sum"
  echo "$sum"
}

# start_containerd: a containerd without CRI. cri_checks.bash has a configuration of its own.
start_containerd() {
  cat >"$WORK/config.toml" <<END
version = 2
root = "$WORK/root"
state = "/run/c8d"
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs"]
[grpc]
address = "/run/c8d.sock"
[ttrpc]
address = "/run/c8d.ttrpc"
END
  daemon containerd containerd --config "$WORK/config.toml" && eventually ctr version
}
import_image() { make_image "" && import default; }
# import NAMESPACE: by ctr itself, as before containerd 2, whose transfer service unpacks for its default snapshotter only.
import() {
  local options=(--snapshotter native)
  [[ $(ctr images import --help) != *--local* ]] || options+=(--local)
  ctr -n "$1" images import "${options[@]}" "$WORK/oci.tar"
}
