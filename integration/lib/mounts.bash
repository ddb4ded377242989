# shellcheck shell=bash disable=SC2016 # jq's variables are not the shell's
# Words for tests of mounts: `load lib/mounts` after lib/common.

bind() { add_mount "$(jq -nc '{destination: $ARGS.positional[0], source: $ARGS.positional[1], options: $ARGS.positional[2:]}' --args -- "$@")"; }
tmpfs() { add_mount "$(jq -nc '{destination: $ARGS.positional[0], type: "tmpfs", source: "tmpfs", options: $ARGS.positional[1:]}' --args -- "$@")"; }

# options_of PATH: shell text that prints a mount's own and its superblock's options, and its optional fields.
options_of() { echo "grep ' $1 ' /proc/self/mountinfo | tail -n 1 | cut -d' ' -f6-"; }
