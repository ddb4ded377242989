# shellcheck shell=bash
# Sets $RUNTIME_ENTRY for the lists docker-shim and swarm-shim: the runtime's own shim, which lies beside the runtime. Where Docker takes no
# other shim than that for runc, the list ends here.
if [[ $(dockerd --version) =~ version\ ([0-9]+) && ${BASH_REMATCH[1]} -lt 23 ]]; then
  skip "all" "Docker ${BASH_REMATCH[1]} takes no other shim"
  end_list && exit
fi
# The states are where Docker has those of the shim for runc.
{ shim_options && echo 'Root = "/run/docker-exec/runtime-tested"'; } >"$WORK/shim.toml"
# shellcheck disable=SC2034 # used by the checks
RUNTIME_ENTRY="{\"runtimeType\": \"${RUNTIME%/*}/containerd-shim-ocirun-v2\", \"options\": {\"ConfigPath\": \"$WORK/shim.toml\"}}"
