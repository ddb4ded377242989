# shellcheck shell=bash disable=SC2016 # what is quoted is for the shell in the container
# Makes the image for the lists of containerd (ctr) and cri.
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
