# shellcheck shell=bash disable=SC2016,SC2154 # texts for the shells of containers
# One root file system with everything that layers can hold, for the tools that make images, and what a pod of such an image does:
# `source "$LIB/worldly.bash"` after lib/pods.bash. The directory $WORK lies on a disk: not all tools can use a tmpfs.

# A path of 300 characters, and a name of 200: both are longer than a field of tar.
long() { printf "%0$1d" 0; }

# make_worldly: makes $WORK/base, the root file system of the first layer, and $WORK/whole, what a container of both layers sees.
make_worldly() {
  local root=$WORK/base content=$WORK/base/content
  cp -a "$BUNDLE/rootfs" "$root"
  rm -rf "${root:?}"/{dev,proc,sys}
  mkdir -p "$content"/{gone,replaced,becomes-file,kept,links,work,"$(long 120)/$(long 100)/$(long 80)"} "$root/data"
  echo first >"$content/file" && chown 1000:1001 "$content/file" && chmod 0640 "$content/file"
  echo hard >"$content/hard-1" && ln "$content/hard-1" "$content/hard-2" && ln "$content/hard-1" "$content/kept/hard-3"
  echo suid >"$content/suid" && chmod 6755 "$content/suid"
  cp "$root/bin/busybox" "$content/capable" && echo note >"$content/attributed"
  # CAP_NET_BIND_SERVICE and CAP_NET_RAW, permitted and effective: struct vfs_cap_data, version 2.
  python3 -c 'import os, sys, struct
os.setxattr(sys.argv[1] + "/capable", "security.capability", struct.pack("<IIIII", 0x2000001, 1 << 10 | 1 << 13, 0, 0, 0))
os.setxattr(sys.argv[1] + "/attributed", "user.note", b"a value")' "$content"
  ln -s /content/file "$content/links/absolute" && ln -s ../none "$content/links/dangling" && ln -s "../$(long 120)" "$content/links/long"
  mknod "$content/null" c 1 3 && mknod "$content/disk" b 7 300 && mkfifo "$content/fifo" && chmod 0622 "$content/fifo"
  echo long >"$content/$(long 200)" && echo deep >"$content/$(long 120)/$(long 100)/$(long 80)/deep"
  echo name >"$content/a naïve name" && : >"$content/empty"
  truncate -s 16M "$content/sparse" && echo tail >>"$content/sparse"
  echo gone >"$content/gone/file" && echo old >"$content/replaced/old" && echo x >"$content/becomes-file/x" && echo x >"$content/becomes-directory"
  chmod 1777 "$content/work" && chmod 2775 "$content/kept"
  echo seed >"$root/data/seed" && chown -R 1000:1000 "$root/data"
  cat >"$root/change" <<'CHANGE'
#!/bin/sh -e
cd /content
rm -r gone replaced becomes-file becomes-directory
mkdir replaced becomes-directory && echo new >replaced/new && echo inner >becomes-directory/inner
echo file >becomes-file
echo pair >pair-1 && ln pair-1 pair-2
echo more >>file
chmod 0700 empty
touch -h -d @1600000000 replaced/new becomes-directory/inner becomes-file pair-1 file empty replaced becomes-directory .
CHANGE
  cat >"$root/entry" <<'ENTRY'
#!/bin/sh
trap 'echo stopped by USR1; exit 0' USR1
echo "$# $1 $2"
echo "$(id -u) $(id -g) $(pwd) $GREETING"
cat /data/seed && echo written >/data/mine && echo "$(grep -c ' /data ' /proc/self/mountinfo) volume"
while :; do sleep 0.1; done
ENTRY
  chmod 0755 "$root/change" "$root/entry"
  find "$root" -exec touch -h -d @1500000000 {} +
  tar -C "$root" --numeric-owner --xattrs --xattrs-include='*' -cf "$WORK/base.tar" .
  cp -a --sparse=always "$root" "$WORK/whole"
  chroot "$WORK/whole" /change
  "$LIB/describe-tree" "$WORK/whole" content data bin change entry >"$WORK/expected"
}

# is_whole ROOT: the tree has what both layers hold. Of a file in `ignored` (grep's pattern) nothing is compared.
is_whole() {
  "$LIB/describe-tree" "$1" content data bin change entry >"$TMP/found"
  diff <(grep -vE "${ignored:-^$}" "$WORK/expected") <(grep -vE "${ignored:-^$}" "$TMP/found")
}

# an_app: prints a document with one container, of the image "made".
an_app() {
  printf '%s\n' 'apiVersion: core.oam.dev/v1alpha2' 'kind: ContainerizedWorkload' 'metadata: {name: worldly}' 'spec:' '  containers:' \
    '    - {name: app, image: made, resources: {cpu: {required: 0.1}, memory: {required: 16M}}}'
}

# runs_whole SOURCE: a pod of the image does what the image's configuration says, sees both layers, and ends by the image's signal.
runs_whole() {
  POD=$ID
  an_app >app.yaml
  quietly pod run --image "made=$1" --net none --grace 20 --name "$POD" --detach app.yaml
  eventually has_lines app 4
  equal $'2 one two words\n1000 1000 /content/work hello world\nseed\n1 volume' "$(pod logs "$POD")"
  ignored="^'data" is_whole "/proc/$(says '.containers[0].pid')/root"
  pod stop "$POD"
  equal "stopped by USR1" "$(pod logs --tail 1 "$POD")"
  equal 0 "$(says '.containers[0].exitCode')"
  pod delete "$POD"
  rm -r data
}
