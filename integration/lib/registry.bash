# shellcheck shell=bash disable=SC2154
# Registries on the loopback device of the sandbox: `source "$LIB/registry.bash"` after lib/pod-scene.bash.

REGISTRY=127.0.0.1:5000

needs_registry() {
  local tool
  for tool in docker-registry htpasswd openssl skopeo; do
    command -v "$tool" >/dev/null || skip "$tool is not installed: \`./dev part images\` installs it"
  done
}

# registry_setup: the image "base" in the layout images, whose registry is started by start_registry.
registry_setup() {
  common_setup
  needs_registry
  rm -rf "$BUNDLE/rootfs/dev" "$BUNDLE/rootfs/proc"
  make_image images base '{"Entrypoint":["/bin/sh","-c"],"Cmd":["echo from the image"]}' "$BUNDLE/rootfs"
  POD=$ID
  trust
}

# trust: the files of skopeo's libraries, in a home directory of the test's own: any signature is good, no mirrors.
trust() {
  export HOME=$TMP/home XDG_RUNTIME_DIR=$TMP/home/run
  mkdir -p "$HOME/.config/containers" "$XDG_RUNTIME_DIR"
  echo '{"default": [{"type": "insecureAcceptAnything"}]}' >"$HOME/.config/containers/policy.json"
  echo 'unqualified-search-registries = []' >"$HOME/.config/containers/registries.conf"
}

# start_registry [YAML-OF-HTTP…]: Debian's docker-registry at $REGISTRY. $SCHEME: https for one with TLS. AUTH=1: user "someone",
# password "secret".
start_registry() {
  mkdir -p "$TMP/registry"
  {
    printf '%s\n' 'version: 0.1' 'log: {accesslog: {disabled: true}, level: error}' "storage: {filesystem: {rootdirectory: $TMP/registry}}" \
      http: "  addr: $REGISTRY"
    printf '  %s\n' "$@"
    if [[ ${AUTH:-} == 1 ]]; then
      htpasswd -Bbn someone secret >"$TMP/htpasswd" 2>/dev/null
      printf 'auth: {htpasswd: {realm: test, path: %s}}\n' "$TMP/htpasswd"
    fi
  } >"$TMP/registry.yml"
  helper docker-registry serve "$TMP/registry.yml"
  eventually answers
}
answers() { curl --silent --insecure --output /dev/null "${SCHEME:-http}://$REGISTRY/v2/"; }

# push NAME [OPTION…]: the image "base" of the layout images becomes $REGISTRY/NAME. push_from SOURCE NAME [OPTION…]
push() { push_from oci:images:base "$@"; }
push_from() { skopeo copy --quiet --dest-tls-verify=false "${@:3}" "$1" "docker://$REGISTRY/$2"; }
digest_of() { skopeo inspect --raw --tls-verify=false "docker://$REGISTRY/$1" | sha256sum | sed 's/^\([0-9a-f]*\).*/sha256:\1/'; }

# pull [OPTION] NAME…: `ocirun pod pull`. Its output goes to $output, its warnings and errors too.
pull() { run pod pull --plain-http "$REGISTRY" "$@"; }
# store: every file of the store but the locks.
store() { (cd data/images && find . -type f ! -name lock ! -name lease | sort); }
# is_whole: no pull has left anything.
is_whole() { [[ ! -d data/images/incoming ]] || equal '' "$(ls data/images/incoming)"; }

# from_registry NAME SCRIPT [YAML-LINE…]: a container of app.yaml that runs a script in the image $REGISTRY/NAME.
from_registry() {
  container app "$2" "${@:3}"
  sed -i "s|image: base|image: $REGISTRY/$1|" app.yaml
}
# run_pulled [OPTION…]: runs app.yaml; nothing but the registry has its image.
run_pulled() {
  ocirun pod run --data "$TMP/data" --net none --grace 1 --name "$POD" --plain-http "$REGISTRY" --restart never "$@" app.yaml \
    </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
}
