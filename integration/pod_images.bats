# Images by the tools of the world, run as pods: umoci, buildah, podman, skopeo and docker make images of the same root file system
# (lib/worldly.bash), in all formats that `ocirun pod` reads.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pods.bash"
source "$LIB/worldly.bash"

# The tools are told to do nothing outside of $WORK and the sandbox's /run.
setup_file() {
  local tool
  for tool in buildah dockerd podman skopeo umoci zstd; do
    command -v "$tool" >/dev/null || skip "$tool is not installed: \`./dev part images\` installs what makes images"
  done
  WORK=$(mktemp -d /var/tmp/ocirun-images.XXXXXX) BUNDLE=$WORK/bundle
  export WORK
  chmod 0711 "$WORK"
  make_bundle "$BUNDLE"
  make_worldly
  mkdir "$WORK/context"
  cat >"$WORK/build" <<'BUILD'
FROM localhost/base
RUN /change
ENTRYPOINT ["/entry"]
CMD ["one", "two words"]
ENV GREETING="hello world" PATH=/bin
USER web
WORKDIR /content/work
VOLUME /data
STOPSIGNAL USR1
BUILD
  printf '[engine]\nevents_logger = "file"\ntmp_dir = "/run/podman"\n' >"$WORK/containers.conf"
  printf '[storage]\ndriver = "overlay"\nrunroot = "/run/containers-storage"\ngraphroot = "%s"\n' "$WORK/storage" >"$WORK/storage.conf"
  echo 'unqualified-search-registries = []' >"$WORK/registries.conf"
  echo '{"default": [{"type": "insecureAcceptAnything"}]}' >"$WORK/policy.json"
}

teardown_file() {
  [[ -z ${WORK:-} ]] || rm -rf "${WORK:?}"
}

setup() {
  common_setup
  export CONTAINERS_CONF=$WORK/containers.conf CONTAINERS_STORAGE_CONF=$WORK/storage.conf CONTAINERS_REGISTRIES_CONF=$WORK/registries.conf
}

# The tools make mounts of their directories, which some of them leave.
teardown() {
  stop_helpers
  umount --quiet --recursive "$WORK"/{storage/overlay,docker} 2>/dev/null || true
  delete_pods
  common_teardown
}

# start_docker: a dockerd of its own, whose containers are run by ocirun. stop_helpers ends it.
start_docker() {
  export DOCKER_HOST=unix:///run/docker.sock DOCKER_CONFIG=$WORK/docker-client DOCKER_BUILDKIT=0
  mkdir -p "$DOCKER_CONFIG"
  printf '{"runtimes": {"tested": {"path": "%s"}}, "default-runtime": "tested", "exec-opts": ["native.cgroupdriver=cgroupfs"]}' \
    "$OCIRUN" >"$WORK/daemon.json"
  helper dockerd --host "$DOCKER_HOST" --data-root "$WORK/docker" --exec-root /run/docker-exec --pidfile /run/docker.pid --bridge=none \
    --iptables=false --ip6tables=false --ip-masq=false --userland-proxy=false --config-file "$WORK/daemon.json"
  eventually docker version
}
docker() { /usr/bin/docker "$@"; } # Debian's, even if PATH has another one
stop_docker() {
  kill -TERM "$HELPER"
  eventually has_ended "$HELPER"
}

skopeo() { command skopeo --policy "$WORK/policy.json" "$@"; }

# make_by_umoci: makes the image "made" in the layout $WORK/umoci, of two layers, gzip.
make_by_umoci() {
  local bundle=$WORK/umoci-bundle
  [[ ! -e $WORK/umoci ]] || return 0
  umoci init --layout "$WORK/umoci"
  umoci new --image "$WORK/umoci:made"
  umoci unpack --image "$WORK/umoci:made" "$bundle"
  tar -C "$bundle/rootfs" --numeric-owner --xattrs --xattrs-include='*' -xf "$WORK/base.tar"
  umoci repack --refresh-bundle --image "$WORK/umoci:made" "$bundle"
  chroot "$bundle/rootfs" /change
  umoci repack --image "$WORK/umoci:made" "$bundle"
  umoci config --image "$WORK/umoci:made" --config.entrypoint /entry --config.cmd one --config.cmd "two words" --config.user web \
    --config.workingdir /content/work --config.env "GREETING=hello world" --config.env PATH=/bin --config.volume /data \
    --config.stopsignal SIGUSR1
  rm -rf "$bundle"
}

# make_by_buildah: makes the image "localhost/made" in the storage of buildah and podman, of two layers.
make_by_buildah() {
  [[ ! -e $WORK/made-by-buildah ]] || return 0
  local container
  container=$(buildah from scratch)
  tar -C "$(buildah mount "$container")" --numeric-owner --xattrs --xattrs-include='*' -xf "$WORK/base.tar"
  buildah config --env PATH=/bin "$container"
  buildah umount "$container"
  buildah commit -q --rm "$container" localhost/base
  buildah build --isolation chroot --network host --layers -q -t localhost/made -f "$WORK/build" "$WORK/context"
  touch "$WORK/made-by-buildah"
}

@test "umoci: a layout of gzip layers, run and planned" {
  make_by_umoci
  runs_whole "$WORK/umoci:made"
  pod plan --image "made=$WORK/umoci:made" -o out app.yaml
  is_whole out/app/rootfs
}

@test "umoci: a directory that is replaced, and a whiteout, without the files of a layer" {
  make_by_umoci
  mkdir -p in/replaced
  echo inserted >in/replaced/new
  cp -a "$WORK/umoci" layout
  umoci insert --image layout:made --tag other --opaque in/replaced /content/kept
  umoci insert --image layout:other --whiteout /content/links
  pod plan --image made=layout:other -o out <(an_app)
  equal new "$(ls out/app/rootfs/content/kept)"
  is_gone out/app/rootfs/content/links
}

@test "buildah: a layout, an OCI archive and a docker archive" {
  make_by_buildah
  local to
  for to in "oci:$TMP/oci:made" "oci-archive:$TMP/oci.tar:made" "docker-archive:$TMP/docker.tar:localhost/made:latest"; do
    buildah push -q localhost/made "$to"
    runs_whole "$to"
    rm -rf "$TMP"/{oci,oci.tar,docker.tar}
  done
}

@test "podman save: docker and OCI archives, a layout, several images in one archive" {
  make_by_buildah
  podman save -q --format docker-archive -o docker.tar localhost/made
  runs_whole "$TMP/docker.tar"
  podman save -q --format oci-archive -o oci.tar localhost/made
  runs_whole "oci-archive:$TMP/oci.tar"
  podman save -q --format oci-dir -o layout localhost/made
  runs_whole "$TMP/layout"
  podman save -q -m -o both.tar localhost/base localhost/made
  runs_whole "docker-archive:$TMP/both.tar:localhost/made:latest"
}

@test "docker save: one image, several in one archive; skopeo from the daemon" {
  start_docker
  docker import --change 'ENV PATH=/bin' "$WORK/base.tar" localhost/base
  sed 's/USR1/SIGUSR1/' "$WORK/build" >Dockerfile
  tar -c Dockerfile | docker build --network none -t localhost/made -
  docker save -o one.tar localhost/made
  docker save -o both.tar localhost/base localhost/made
  skopeo copy -q --src-daemon-host "$DOCKER_HOST" docker-daemon:localhost/made:latest oci:layout:made
  stop_docker
  runs_whole "$TMP/one.tar"
  runs_whole "docker-archive:$TMP/both.tar:localhost/made"
  runs_whole "$TMP/layout:made"
}

@test "skopeo: from the storage of containers, and among layouts and archives" {
  make_by_buildah
  skopeo copy -q "containers-storage:[overlay@$WORK/storage+/run/containers-storage]localhost/made:latest" oci:one:made
  runs_whole "$TMP/one:made"
  skopeo copy -q oci:one:made docker-archive:two.tar:made:latest
  skopeo copy -q docker-archive:two.tar oci-archive:three.tar:made
  skopeo copy -q oci-archive:three.tar:made oci:four:made
  runs_whole "docker-archive:$TMP/two.tar"
  runs_whole "oci-archive:$TMP/three.tar:made"
  runs_whole "$TMP/four:made"
}

@test "layers compressed by zstd, by gzip, and not at all; compressed archives" {
  make_by_umoci
  skopeo copy -q --dest-compress-format zstd "oci:$WORK/umoci:made" oci:zstd:made
  jq -r '.layers[].mediaType' zstd/blobs/sha256/"$(jq -r '.manifests[0].digest[7:]' zstd/index.json)" >types
  has tar+zstd "$(<types)"
  runs_whole "$TMP/zstd:made"
  skopeo copy -q "oci:$WORK/umoci:made" docker-archive:plain.tar:made:latest # its layers are not compressed
  runs_whole "$TMP/plain.tar"
  gzip -k plain.tar
  runs_whole "$TMP/plain.tar.gz"
  tar -C zstd -cf zstd.tar .
  zstd -q zstd.tar
  runs_whole "$TMP/zstd.tar.zst:made"
}

@test "an index of several platforms: the one of this machine" {
  make_by_buildah
  local other=arm64 own
  own=$(dpkg --print-architecture)
  [[ $own != arm64 ]] || other=amd64
  container=$(buildah from --arch "$other" scratch)
  buildah commit -q --rm "$container" localhost/other
  buildah manifest create many
  buildah manifest add --arch "$other" many containers-storage:localhost/other
  buildah manifest add --arch "$own" many containers-storage:localhost/made
  buildah manifest push -q --all many "oci:$TMP/layout:many"
  buildah manifest rm many
  runs_whole "$TMP/layout:many"
}

@test "a sparse file of a layer made by tar stays sparse" {
  source "$LIB/image.bash"
  mkdir first
  truncate -s 64M first/sparse
  echo end >>first/sparse
  tar() { command tar --sparse "$@"; }
  make_image images made '{"Cmd":["/none"]}' first
  pod plan --image made=images:made -o out <(an_app)
  cmp first/sparse out/app/rootfs/sparse
  [[ $(stat -c %b out/app/rootfs/sparse) -lt 2048 ]]
}
