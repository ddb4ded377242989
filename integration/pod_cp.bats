# `ocirun pod cp`: files out of a container that runs, and into it. The container is hostile.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

# begin SCRIPT: runs a pod whose container does SCRIPT, says "ready" and then sleeps.
begin() {
  container app "$1"$'\necho ready\nexec sleep 1000'
  run_pod --detach --restart never
  eventually has_lines app 1
}
in_app() { pod exec "$POD" /bin/sh -c "$1"; }
# refused WORDS OPERAND OPERAND: cp fails with these words.
refused() {
  run pod cp "${@:2}"
  equal 1 "$status"
  output_mentions "$1"
}
# nothing_temporary DIRECTORY: no half of a copy is left.
nothing_temporary() { equal "" "$(find "$1" -name '.ocirun-cp.*')"; }

@test "out of a container: files, directories and symlinks, with modes and times; the caller owns them; no set-user-id bit" {
  begin 'mkdir -p /d/sub/empty; echo one >/d/one; echo two >/d/sub/two; ln -s ../one /d/sub/link; ln -s /nowhere /d/dangling
    chmod 4755 /d/one; chmod 2750 /d/sub; chown 7:8 /d/one; touch -d "2001-02-03 04:05:06" /d/one /d/sub; cd /d && ln one two-names'
  pod cp "$POD:/d/one" .
  equal "one 755 0 0 2001-02-03" "$(<one) $(TZ=UTC stat -c '%a %u %g %.10y' one)"
  pod cp "$POD:d" new # a path is relative to the root of the container; a new directory
  equal 'dangling
one
sub
sub/empty
sub/link
sub/two
two-names' "$(cd new && find . -mindepth 1 | sed 's,^\./,,' | sort)"
  equal "../one /nowhere" "$(readlink new/sub/link) $(readlink new/dangling)"
  equal "750 2001-02-03" "$(TZ=UTC stat -c '%a %.10y' new/sub)"
  equal "one 755 1" "$(<new/two-names) $(stat -c '%a %h' new/two-names)"
  mkdir old && echo mine >old/mine && echo before >old/one
  pod cp "$POD:/d/one" old # into a directory that is there
  equal one "$(<old/one)"
  pod cp -c app "$POD:/d" old
  equal two "$(<old/d/sub/two)"
  pod cp "$POD:/d/." old # what is in it
  equal "mine two" "$(<old/mine) $(<old/sub/two)"
  pod cp "$POD:/d/one" "$TMP/a:b" # a path of the host with a colon
  pod cp "$POD:/d/sub/link" ./b:c
  equal ../one "$(readlink b:c)"
  nothing_temporary "$TMP"
}

@test "into a container: the container's root owns the copies, or --user; a container without tar; what is in the way" {
  begin 'mkdir -p /to/there /busy/one; rm -f /bin/tar; mkfifo /pipe'
  mkdir -p from/sub && echo one >from/one && echo two >from/sub/two && ln -s one from/link
  chmod 4711 from/one && chmod 700 from/sub && touch -d '2001-02-03 04:05:06 UTC' from/one
  chown -R 1234:1234 from
  pod cp from "$POD:/to/there"
  equal 'one 0:0 711 2001-02-03' "$(in_app 'echo "$(cat /to/there/from/one) $(TZ=UTC stat -c "%u:%g %a %y" /to/there/from/one)"' | cut -c 1-22)"
  equal '0:0 700 two one' "$(in_app 'cd /to/there/from; echo "$(stat -c "%u:%g %a" sub) $(cat sub/two) $(readlink link)"')"
  pod cp --user 7:8 from "$POD:/to/new"
  equal '7:8 7:8 7:8' "$(in_app 'cd /to/new; stat -c %u:%g . sub/two link' | xargs)"
  pod cp --user 9 from/one "$POD:/to/there/"
  equal 9:9 "$(in_app 'stat -c %u:%g /to/there/one')"
  echo other >from/one
  pod cp from/one "$POD:/to/there/one"
  equal other "$(in_app 'cat /to/there/one')"
  refused 'one: is in the way: it is neither a file nor a symlink' from/one "$POD:/busy"
  refused 'one: is in the way: it is no directory' from "$POD:/to/there/one"
  refused 'it is neither a file nor a symlink' from/one "$POD:/pipe"
  refused 'no such file or directory' from/one "$POD:/absent/one"
  refused 'no such file or directory' from/one "$POD:/absent/"
  refused 'no such file or directory' absent "$POD:/to"
  equal "" "$(in_app 'find / -xdev -name ".ocirun-cp.*"')"
}

@test "operands: one in a pod and one of the host; archives, containers that do not run and wrong users are refused with advice" {
  begin true
  refused 'one of the operands must be POD:PATH' a b
  refused 'one of the operands must be POD:PATH' "$POD:/a" "$POD:/b"
  refused 'has no path behind the colon' "$POD:" .
  refused 'tar archives on the standard streams are not supported' "$POD:/etc" -
  refused "--user: what is copied to the host belongs to the caller" --user 1 "$POD:/etc" .
  refused '--user: ' --user 4294967295 . "$POD:/etc"
  refused 'there is no pod "nobody"' nobody:/etc .
  refused 'the pod has no container "two"; those that run: app' -c two "$POD:/etc" .
  run pod cp "$POD:/etc"
  equal 1 "$status"
  pod kill "$POD" KILL
  reaches '.containers[0].status' exited
  refused 'no container of the pod runs' "$POD:/etc" .
}

@test "out of a hostile container: no symlink leads to the host, no device or FIFO is opened, nothing of the kernel is read" {
  mkdir host && echo secret >host/secret
  begin "mkdir /d; echo fine >/d/fine; ln -s $TMP/host /way; ln -s $TMP/host/secret /d/secret; ln -s /proc /p; mkfifo /d/pipe /pipe
    nc -l -U /d/socket & ln -s / /d/root"
  refused 'no such file or directory' "$POD:/way/secret" .
  pod cp "$POD:/d/secret" link
  equal "$TMP/host/secret" "$(readlink link)"
  refused 'no such file or directory' "$POD:/../../../../../..$TMP/host/secret" .
  refused 'no such file or directory' "$POD:..$TMP/host/secret" .
  refused 'is a FIFO, and cannot be copied' "$POD:/pipe" .
  refused 'is a device, and cannot be copied' "$POD:/dev/null" .
  refused 'lies in a filesystem of the kernel' "$POD:/proc/1/environ" .
  refused 'lies in a filesystem of the kernel' "$POD:/p/1/environ" .
  refused 'lies in a filesystem of the kernel' "$POD:/proc" all
  run pod cp "$POD:/p/1/root/d" . # a magic link
  equal 1 "$status"
  run pod cp "$POD:/p/self/cwd/etc" .
  equal 1 "$status"
  [[ ! -e secret && ! -e environ && ! -e all && ! -e d ]]
  run pod cp "$POD:/d" all
  equal 0 "$status"
  output_mentions 'warning: /d/pipe: is a FIFO, and is left out'
  equal 'fine
root
secret' "$(ls all | grep -v socket)"
  [[ -L all/secret && -L all/root ]]
  run pod cp "$POD:/dev" devices
  equal 0 "$status"
  output_mentions 'warning: /dev/null: is a device, and is left out'
  output_mentions 'warning: /dev/pts: lies in a filesystem of the kernel'
  equal "" "$(find devices -type c)"
  # A second time: the symlinks of the first copy are replaced, and not followed.
  in_app 'rm /d/secret; echo evil >/d/secret; rm /d/root; mkdir /d/root; echo evil >/d/root/evil'
  refused 'root: is in the way: it is no directory' "$POD:/d/." all
  in_app 'rm -r /d/root'
  pod cp "$POD:/d/." all 2>/dev/null
  equal "evil secret" "$(<all/secret) $(<host/secret)"
  [[ ! -e $TMP/evil && ! -e /evil ]]
  nothing_temporary "$TMP"
}

@test "out of a hostile container: a huge sparse file stays sparse, a thousand FIFOs are told briefly, a deep tree is refused" {
  begin 'truncate -s 100G /sparse; mkdir /pipes /deep; i=0; while [ $i -lt 100 ]; do mkfifo /pipes/$i; i=$((i+1)); done
    cd /deep; i=0; while [ $i -lt 210 ]; do mkdir d && cd d; i=$((i+1)); done'
  pod cp "$POD:/sparse" .
  equal 107374182400 "$(stat -c %s sparse)"
  [[ $(stat -c %b sparse) -lt 1000 ]]
  rm sparse
  run pod cp "$POD:/pipes" .
  equal 0 "$status"
  equal 21 "$(wc -l <<<"$output")"
  output_mentions 'and 80 other entries are left out'
  refused 'is more than 200 directories deep' "$POD:/deep" .
}

@test "into a hostile container: its symlinks lead nowhere else, a target that is a symlink is replaced, /proc and /sys are refused" {
  mkdir host && echo secret >host/secret
  begin "ln -s $TMP/host /way; ln -s $TMP/host/secret /target; mkdir /in /real; ln -s /real /inside; ln -s $TMP/host /in/from; ln -s /proc/sys/kernel /k
    mkdir -p /etc; echo inside >/etc/inside"
  mkdir from && echo evil >from/secret
  refused 'no such file or directory' from/secret "$POD:/way/secret"
  pod cp from/secret "$POD:/target"
  equal evil "$(in_app 'cat /target')"
  pod cp from/secret "$POD:/inside" # a symlink to a directory of the container
  equal evil "$(in_app 'cat /real/secret')"
  refused 'from: is in the way: it is no directory' from "$POD:/in"
  pod cp from/secret "$POD:/../../../etc/inside"
  equal evil "$(in_app 'cat /etc/inside')"
  refused 'and nothing is copied to it' from/secret "$POD:/k/core_pattern"
  refused 'and nothing is copied to it' from/secret "$POD:/proc/sys/kernel/core_pattern"
  refused 'and nothing is copied to it' from "$POD:/sys"
  equal secret "$(<host/secret)"
  equal secret "$(ls host)"
}

@test "a container that swaps directories, symlinks and FIFOs all the time reaches nothing of the host, and cp ends each time" {
  mkdir host from && echo secret >host/secret && echo evil >from/file
  begin "mkdir /a /b; echo inside >/a/secret; ln -s $TMP/host /b/way; mkdir /b/dir; echo inside >/b/dir/secret; mkfifo /b/pipe
    ( while :; do rm -f /a/x; ln -s $TMP/host /a/x; rm -f /a/x; mkdir /a/x; echo inside >/a/x/secret; rm -r /a/x; mkfifo /a/x; done ) &"
  local round
  for round in {1..60}; do
    timeout 30 "$OCIRUN" --root "$ROOT" pod cp --data "$TMP/data" "$POD:/a" "out.$round" >/dev/null 2>&1 || [[ $? == 1 ]]
    timeout 30 "$OCIRUN" --root "$ROOT" pod cp --data "$TMP/data" "$POD:/a/x/secret" "file.$round" >/dev/null 2>&1 || [[ $? == 1 ]]
    timeout 30 "$OCIRUN" --root "$ROOT" pod cp --data "$TMP/data" from/file "$POD:/a/x/secret" >/dev/null 2>&1 || [[ $? == 1 ]]
    timeout 30 "$OCIRUN" --root "$ROOT" pod cp --data "$TMP/data" from "$POD:/a/x" >/dev/null 2>&1 || [[ $? == 1 ]]
  done
  equal "secret secret" "$(ls host) $(<host/secret)"
  equal "" "$(find out.* file.* -type f -exec grep -l '^secret' {} + 2>/dev/null || true)"
  equal "" "$(find out.* file.* -type p 2>/dev/null)"
  nothing_temporary "$TMP"
}

@test "a program that owns the directory and swaps what cp makes there gets no directory of root's" {
  command -v strace >/dev/null || skip "needs strace, which makes the moment longer"
  mkdir -p from shared/closed && echo secret >shared/closed/key
  local i round
  for i in {1..5}; do mkdir "from/d$i"; done
  chmod 0755 from from/*
  chmod 0700 shared/closed && chown 1000:1000 shared
  # Swaps the closed directory with each that cp makes: with d1, d2 … by their names, or with those of temporary names.
  cat >swap.py <<'END'
import ctypes, os, sys
exchange = ctypes.CDLL(None).renameat2
os.chdir("shared")
os.setgid(1000), os.setuid(1000)
print("swaps", flush=True)
if sys.argv[1] == "temporary":
    while True:
        for name in os.listdir(b"."):
            if name.startswith(b".") and exchange(-100, name, -100, b"closed", 2) == 0:
                exchange(-100, name, -100, b"closed", 2)
while True:
    for name in [b"d%d" % i for i in range(1, 6)]:
        if exchange(-100, name, -100, b"closed", 2) == 0:
            sys.exit()
END
  cat >app.yaml <<END
apiVersion: v1
kind: Pod
metadata: {name: shop}
spec:
  containers: [{name: app, image: base, command: [/bin/sleep, "1000"], volumeMounts: [{name: shared, mountPath: /shared}]}]
  volumes: [{name: shared, hostPath: {path: $PWD/shared}}]
END
  run_pod --detach
  local key swapper way
  for way in names temporary; do
    python3 swap.py "$way" >swaps 3>&- 4>&- &
    swapper=$!
    eventually grep -q swaps swaps
    for round in 1 2; do
      timeout 30 strace -f -o /dev/null -e trace=mkdirat -e inject=mkdirat:delay_exit=20000 \
        "$OCIRUN" --root "$ROOT" pod cp --data "$TMP/data" from/. "$POD:/shared" >/dev/null 2>&1 || [[ $? == 1 ]]
      [[ $way == names ]] || find shared -mindepth 1 -maxdepth 1 -name 'd*' -exec rmdir --ignore-fail-on-non-empty {} +
    done
    kill "$swapper" 2>/dev/null || true
    wait "$swapper" || true
    key=$(dirname "$(find shared -name key)")
    equal "700 0" "$(stat -c '%a %u' "$key")"
    [[ $key == shared/closed ]] || { rm -rf shared/closed && mv "$key" shared/closed; }
    find shared -mindepth 1 -maxdepth 1 ! -name closed -exec rm -rf {} +
  done
}

@test "a copy that came out as a symlink does not lead the next copy to its target" {
  mkdir "$TMP/elsewhere"
  container app "ln -s $TMP/elsewhere /out; echo ready; exec sleep 1000"
  run_pod --detach
  eventually has_lines app 1
  pod cp "$POD:/out" "$TMP/out"
  equal "$TMP/elsewhere" "$(readlink "$TMP/out")"
  pod exec "$POD" sh -c 'rm /out; echo mine >/out'
  run pod cp "$POD:/out" "$TMP/out"
  equal 1 "$status"
  output_mentions "is a symlink to a directory, which may have come out of a container: \"$TMP/out/\" copies into the directory"
  equal "" "$(ls "$TMP/elsewhere")"
}
