# shellcheck shell=bash
# Images for tests, made by hand: `source "$LIB/image.bash"`.

# put_blob FILE LAYOUT: moves a file into the layout; prints its digest and size as members of a descriptor.
put_blob() {
  local digest
  digest=$(sha256sum <"$1") digest=${digest%% *}
  printf '"digest":"sha256:%s","size":%s' "$digest" "$(stat -c %s "$1")"
  mv "$1" "$2/blobs/sha256/$digest"
}

# make_image LAYOUT NAME CONFIG DIRECTORY…: adds an image to an OCI layout, which is made if it is missing: a layer for each
# directory, and the JSON text CONFIG as the image's `config`.
make_image() {
  local layout=$1 name=$2 config=$3 directory layers='' ids='' descriptor machine
  case $(uname -m) in x86_64) machine=amd64 ;; aarch64) machine=arm64 ;; *) machine=$(uname -m) ;; esac
  mkdir -p "$layout/blobs/sha256"
  echo '{"imageLayoutVersion":"1.0.0"}' >"$layout/oci-layout"
  [[ -e $layout/index.json ]] || echo '{"schemaVersion":2,"manifests":[]}' >"$layout/index.json"
  for directory in "${@:4}"; do
    tar -C "$directory" --numeric-owner -cf "$layout/new" .
    ids+=${ids:+,}\"sha256:$(sha256sum <"$layout/new" | cut -d' ' -f1)\"
    layers+="${layers:+,}{\"mediaType\":\"application/vnd.oci.image.layer.v1.tar\",$(put_blob "$layout/new" "$layout")}"
  done
  printf '{"architecture":"%s","os":"linux","config":%s,"rootfs":{"type":"layers","diff_ids":[%s]}}' \
    "$machine" "$config" "$ids" >"$layout/new"
  descriptor="\"mediaType\":\"application/vnd.oci.image.config.v1+json\",$(put_blob "$layout/new" "$layout")"
  printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{%s},"layers":[%s]}' \
    "$descriptor" "$layers" >"$layout/new"
  descriptor="{\"mediaType\":\"application/vnd.oci.image.manifest.v1+json\",$(put_blob "$layout/new" "$layout"),
    \"annotations\":{\"org.opencontainers.image.ref.name\":\"$name\"}}"
  jq --argjson new "$descriptor" '.manifests += [$new]' "$layout/index.json" >"$layout/new"
  mv "$layout/new" "$layout/index.json"
}
