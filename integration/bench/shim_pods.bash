# shellcheck shell=bash disable=SC2034,SC2154 # variables of shim
# Starts containerd 1 with CRI for `shim --pods`. Each of ${SIDES[@]} is a handler, whose name is that of the side in small letters, as
# shim_pods.py has it.
SIDES=("Go + runc" "Go + crun" "Go + ocirun" "ocirun's shim")

# handler NAME TYPE OPTION: prints the table of a handler.
handler() {
  printf '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.%s]\nruntime_type = "%s"\n' "$1" "$2"
  printf '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.%s.options]\n%s\n' "$1" "$3"
}

start_containerd() {
  printf 'BinaryName = "%s"\n' "$OCIRUN" >"$WORK/shim.toml"
  mkdir -p "$WORK/logs"
  {
    cat <<END
version = 2
root = "$WORK/root"
state = "/run/c8d"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs"]
[grpc]
address = "/run/c8d.sock"
[ttrpc]
address = "/run/c8d.ttrpc"
[plugins."io.containerd.grpc.v1.cri"]
restrict_oom_score_adj = true
sandbox_image = "localhost/busybox:latest"
[plugins."io.containerd.grpc.v1.cri".containerd]
default_runtime_name = "go-runc"
END
    handler go-runc io.containerd.runc.v2 "BinaryName = \"$(command -v runc)\""
    handler go-crun io.containerd.runc.v2 "BinaryName = \"$(command -v crun)\""
    handler go-ocirun io.containerd.runc.v2 "BinaryName = \"$OCIRUN\""
    handler ocirunsshim "${OCIRUN%/*}/containerd-shim-ocirun-v2" "ConfigPath = \"$WORK/shim.toml\""
  } >"$WORK/config.toml"
  daemon containerd containerd --config "$WORK/config.toml" && eventually "$clients/cri-client" /run/c8d.sock Version
}
import_image() { make_image '"Cmd":["sleep","1000"],' && import k8s.io; }
