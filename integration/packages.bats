# shellcheck disable=SC2016 # scripts for the shell inside the root
# The packages of `./dev package` (build/packages, build/packages-newer), installed into a root file system of debootstrap. The part
# `packages` of ./dev makes both.
load lib/common

PACKAGES=$REPO/build/packages

setup() {
  [[ -e $PACKAGES/SHA256SUMS && -d $PACKAGES-newer ]] || skip "no packages: ./dev part packages"
  common_setup
  # shellcheck source=integration/lib/image.bash
  source "$LIB/image.bash"
}

# in_root SCRIPT: a shell runs the script in a mount namespace whose root is a writable copy of Debian 12, with $TMP at /tmp. The packages
# are in /packages and /packages-newer, a bundle is in /bundle. The script has $ID.
in_root() {
  local debian
  debian=$("$LIB/package-root" --print) || skip "no root file system: run integration/lib/package-root where a mirror is reached"
  mkdir -p "$TMP"/debian/{changes,work,all}
  run timeout 240 unshare --mount --propagation private --pid --fork --kill-child bash -euc '
    cd "$2/debian"
    mount -t overlay -o "lowerdir=$1,upperdir=changes,workdir=work" overlay all
    cd all
    mount -t proc proc proc
    mount --rbind /sys sys
    mount --rbind /dev dev
    mount -t tmpfs tmpfs run
    mount --bind "$2" tmp
    mkdir packages packages-newer bundle
    mount --bind "$3" packages
    mount --bind "$3-newer" packages-newer
    mount --bind "$4" bundle
    pivot_root . mnt
    umount --lazy /mnt
    export ID="$6" HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
    trap "{ ocirun pod delete --force $ID; ocirun delete --force $ID; } >/dev/null 2>&1 || true" EXIT
    bash -euc "$5"' in-root "$debian" "$TMP" "$PACKAGES" "$BUNDLE" "$1" "$ID" </dev/null 3>&- 4>&-
}

@test "packages: the sums are right" {
  cd "$PACKAGES"
  run sha256sum --check --quiet SHA256SUMS
  succeeds ""
}

@test "packages: each has its files, and the programs are hardened" {
  local file list pages=()
  dpkg-deb --fsys-tarfile "$PACKAGES"/ocirun_*.deb | tar -t | sed 's|^\./usr/||; s/\.gz$//' >"$TMP/deb"
  dpkg-deb --fsys-tarfile "$PACKAGES"/ocirun-pod_*.deb | tar -t | sed 's|^\./usr/||; s/\.gz$//' >"$TMP/pod.deb"
  rpm -qlp "$PACKAGES"/ocirun-[0-9]*.rpm 2>/dev/null | sed 's|^/usr/||; s/\.gz$//' >"$TMP/rpm"
  rpm -qlp "$PACKAGES"/ocirun-pod-*.rpm 2>/dev/null | sed 's|^/usr/||; s/\.gz$//' >"$TMP/pod.rpm"
  tar -tf "$PACKAGES"/*.tar.gz | sed 's|^usr/local/||' >"$TMP/tarball"
  for file in sbin/ocirun libexec/ocirun/ocirun-{systemd,criu,netdevice} share/man/man8/ocirun.8 share/man/man7/ocirun-engines.7 \
    share/bash-completion/completions/ocirun share/zsh/site-functions/_ocirun share/fish/vendor_completions.d/ocirun.fish \
    share/containers/containers.conf.d/50-ocirun.conf; do
    for list in deb rpm tarball; do grep -qx "$file" "$TMP/$list" || { echo "$list: no $file" && false; }; done
  done
  dpkg-deb --fsys-tarfile "$PACKAGES"/ocirun-shim_*.deb | tar -t | sed 's|^\./usr/||; s/\.gz$//' >"$TMP/shim.deb"
  rpm -qlp "$PACKAGES"/ocirun-shim-*.rpm 2>/dev/null | sed 's|^/usr/||; s/\.gz$//' >"$TMP/shim.rpm"
  for file in bin/containerd-shim-ocirun-v2 share/man/man8/containerd-shim-ocirun-v2.8; do
    for list in shim.deb shim.rpm tarball; do grep -qx "$file" "$TMP/$list" || { echo "$list: no $file" && false; }; done
    if grep -qx "$file" "$TMP/deb" "$TMP/rpm"; then echo "$file is in both packages" && false; fi
  done
  for file in "$REPO"/man/ocirun-pod{,-*}.[78]; do pages+=("share/man/man${file##*.}/${file##*/}"); done
  for file in libexec/ocirun/ocirun-{pod,hold,unpack,probe,metadata} "${pages[@]}"; do
    for list in pod.deb pod.rpm tarball; do grep -qx "$file" "$TMP/$list" || { echo "$list: no $file" && false; }; done
    if grep -qx "$file" "$TMP/deb" "$TMP/rpm"; then echo "$file is in both packages" && false; fi
  done
  if grep '/$' "$TMP/tarball"; then echo "the tarball has directories" && false; fi
  mkdir "$TMP/tree"
  for file in "$PACKAGES"/*.deb; do dpkg-deb -x "$file" "$TMP/tree"; done
  run hardening-check --color "$TMP"/tree/usr/sbin/ocirun "$TMP/tree/usr/bin/containerd-shim-ocirun-v2" "$TMP"/tree/usr/libexec/ocirun/ocirun-{systemd,criu,netdevice,pod,unpack,probe,metadata}
  output_mentions "Position Independent Executable: "
  output_never_mentions "Position Independent Executable: no"
  output_never_mentions "Stack protected: no"
  output_never_mentions "Read-only relocations: no"
  output_never_mentions "Immediate binding: no"
}

# -g, -O2: the packages have no symbols, and ocirun is built with -Os (CMakeLists.txt). -Werror=format-security: -Wformat=2 with -Werror has
# it. -fPIE, -pie: Debian's compiler makes programs position independent by itself, and the test above looks at the programs. The three sources
# run before the C library is ready, or without it, which _FORTIFY_SOURCE calls.
@test "packages: the commands of the build have Debian's options for hardening" {
  local ignored=(--ignore-flag={-g,-O2,-Werror=format-security,-fPIE,-pie} --ignore-line='.*/linux/(sealed/(entry|mappings)|start/libc_start)\.cpp')
  { echo "dpkg-buildpackage: info: host architecture $(dpkg --print-architecture)"; ninja -C "$REPO/build/package" -t commands all; } >"$TMP/log"
  run blhc --bindnow "${ignored[@]}" "$TMP/log"
  succeeds ""
  sed 's/ -Wl,-z,now / /' "$TMP/log" >"$TMP/lazy"
  run blhc --bindnow "${ignored[@]}" "$TMP/lazy"
  output_mentions "LDFLAGS missing (-Wl,-z,now)"
}

@test "packages: the bill of materials names what is linked statically" {
  run jq -r '.spdxVersion, (.packages[] | "\(.name) \(.versionInfo)")' "$PACKAGES"/ocirun-*.spdx.json
  succeeds
  output_mentions SPDX-2.3
  output_mentions "libseccomp-dev $(dpkg-query -W -f '${Version}' libseccomp-dev)"
  output_mentions "libc6-dev $(dpkg-query -W -f '${Version}' libc6-dev)"
  output_mentions yaml-cpp
  run jq -e '[.packages[].SPDXID] as $known | [.relationships[] | .relatedSpdxElement] - $known == []' "$PACKAGES"/ocirun-*.spdx.json
  succeeds
}

@test "packages: a container goes on after the removal, which says how to end it, and a purge leaves nothing" {
  in_root '
    files() { find / -xdev -path /packages -prune -o -path /packages-newer -prune -o -path "/var/log/*" -prune -o -path "/var/lib/dpkg/*" -prune -o -print; }
    files >/tmp/before
    dpkg -i /packages/ocirun_*.deb >/dev/null
    ocirun run --detach --bundle /bundle "$ID" </dev/null >/dev/null 2>&1
    pid=$(ocirun state "$ID" | jq .pid)
    dpkg -r ocirun
    [ ! -e /usr/sbin/ocirun ]
    echo "still there: $(tr "\0" " " </proc/$pid/cmdline)"
    dpkg -i /packages/ocirun_*.deb >/dev/null
    ocirun list
    ocirun delete --force "$ID"
    dpkg -P ocirun >/dev/null
    files >/tmp/after
    diff /tmp/before /tmp/after && echo nothing is left'
  succeeds
  output_mentions "these containers go on: $ID"
  output_mentions "ocirun delete --force ID"
  output_mentions "still there: "
  output_mentions "$ID "
  output_mentions "nothing is left"
}

@test "packages: a container outlives an upgrade and a downgrade, and each version can use and delete it" {
  in_root '
    dpkg -i /packages/ocirun_*.deb >/dev/null
    ocirun run --detach --bundle /bundle "$ID" </dev/null >/dev/null 2>&1
    sleep 2.1 # a kept image is made of an executable that has settled
    ocirun exec "$ID" true
    echo "images: $(ls /var/cache/ocirun | wc -l)"
    pid=$(ocirun state "$ID" | jq .pid)
    dpkg -i /packages-newer/ocirun_*.deb >/dev/null
    dpkg-query -W ocirun
    echo "images: $(ls /var/cache/ocirun 2>/dev/null | wc -l)"
    [ "$(ocirun state "$ID" | jq .pid)" = "$pid" ]
    ocirun list
    ocirun exec "$ID" /bin/busybox echo entered by the newer version
    dpkg -i /packages/ocirun_*.deb
    dpkg-query -W ocirun
    ocirun exec "$ID" /bin/busybox echo entered by the older version
    dpkg -i /packages-newer/ocirun_*.deb >/dev/null
    ocirun delete --force "$ID"
    ocirun list --quiet'
  succeeds
  output_mentions $'images: 1\nocirun\t0.99.0\nimages: 0'
  output_mentions "entered by the newer version"
  output_mentions "downgrading"
  output_mentions "entered by the older version"
}

@test "packages: a container outlives an upgrade of its shim: the old server goes on, and each version removes what the other has left" {
  mkdir "$TMP/opt"
  upgrade_to() { rm -rf "$TMP/new" && for file in "$1"/ocirun_*.deb "$1"/ocirun-shim_*.deb; do dpkg-deb -x "$file" "$TMP/new"; done && cp -r --remove-destination "$TMP/new/." "$TMP/opt"; }
  export -f upgrade_to
  export UPGRADE="upgrade_to $PACKAGES-newer" DOWNGRADE="upgrade_to $PACKAGES" TMP
  upgrade_to "$PACKAGES"
  run python3 "$LIB/shim-scene" upgraded "$TMP/opt/usr/bin/containerd-shim-ocirun-v2" "$TMP/opt/usr/sbin/ocirun" "$ROOT" "$BUNDLE" "$ID"
  succeeds
}

@test "packages: a record of a newer version is refused with a sentence, and delete --force removes the container" {
  in_root '
    dpkg -i /packages/ocirun_*.deb >/dev/null
    ocirun run --detach --bundle /bundle "$ID" </dev/null >/dev/null 2>&1
    sed -i "s/\"format\":1,/\"format\":2,\"inventedLater\":1,/" /run/ocirun/"$ID"/state.json
    ocirun state "$ID" || echo "status $?"
    ocirun delete --force "$ID"
    ocirun list --quiet'
  succeeds
  output_mentions "/format: is 2, and this version of ocirun reads formats up to 1: a newer version wrote this record, and can still use it"
  output_mentions "status 1"
}

@test "packages: a pod outlives an upgrade: its probes and restarts go on, and the newer version stops and deletes it" {
  mkdir -p "$TMP/layer/bin"
  cp "$(command -v busybox)" "$TMP/layer/bin/"
  ln -s busybox "$TMP/layer/bin/sh"
  make_image "$TMP/images" web '{}' "$TMP/layer"
  cat >"$TMP/pod.yaml" <<END
apiVersion: core.oam.dev/v1alpha2
kind: ContainerizedWorkload
metadata: {name: $ID}
spec:
  containers:
    - name: server
      image: web
      resources: {cpu: {required: 0.1}, memory: {required: 8M}}
      cmd: [/bin/sh, -c, "while :; do /bin/busybox sleep 0.1; [ ! -e /end ] || exit 3; done"]
      livenessProbe: {exec: {command: [/bin/sh, -c, ": >>/probed"]}, periodSeconds: 1}
END
  in_root '
    dpkg -i /packages/*.deb >/dev/null
    ocirun pod run --images /tmp/images --net host --detach --restart always /tmp/pod.yaml
    dpkg -i /packages-newer/*.deb >/dev/null
    ocirun pod status "$ID"
    ocirun pod exec "$ID" /bin/sh -c "/bin/busybox rm -f /probed"
    limit=$((SECONDS + 60))
    until ocirun pod exec "$ID" /bin/busybox test -e /probed; do [ $SECONDS -lt $limit ]; sleep 0.2; done
    echo probed after the upgrade
    ocirun pod exec "$ID" /bin/sh -c ": >/end"
    until ocirun pod status --format json "$ID" | jq -e ".. | .restarts? // empty | select(. > 0)"; do [ $SECONDS -lt $limit ]; sleep 0.2; done
    echo restarted after the upgrade
    dpkg -P ocirun-pod
    dpkg -i /packages-newer/*.deb >/dev/null
    ocirun pod stop "$ID"
    ocirun pod delete "$ID"
    ocirun pod images
    dpkg -P ocirun-pod
    [ ! -e /var/lib/ocirun ]
    echo purged'
  succeeds
  output_mentions "probed after the upgrade"
  output_mentions "restarted after the upgrade"
  output_mentions "these pods stay: $ID "
  output_mentions "pods still run: /var/lib/ocirun stays"
  output_mentions "purged"
}

@test "packages: the RPMs install into an empty root by rpm's own tools" {
  mkdir "$TMP/rpm"
  run rpm --root "$TMP/rpm" --install --nodeps --noscripts "$PACKAGES"/*.rpm
  succeeds
  run rpm --root "$TMP/rpm" --verify --nodeps ocirun ocirun-pod
  succeeds ""
  run rpm -qp --requires "$PACKAGES"/ocirun-pod-*.rpm
  output_mentions "ocirun = "
  run "$TMP/rpm/usr/sbin/ocirun" --version
  succeeds
  output_mentions "ocirun version"
}

@test "packages: the tarball's runtime runs from any directory" {
  mkdir "$TMP/opt"
  tar -C "$TMP/opt" -xf "$PACKAGES"/ocirun-*.tar.gz
  OCIRUN=$TMP/opt/usr/local/sbin/ocirun
  inside 'echo "from $0"'
  succeeds "from sh"
}
