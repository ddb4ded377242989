# shellcheck shell=bash
# Paths of a container's cgroups and values of their files, on hosts with cgroup v1, hybrid hosts and hosts with v2 alone.

# pure_v2: this host has the unified hierarchy only.
pure_v2() { [[ -e /sys/fs/cgroup/cgroup.controllers ]]; }

# has_v1 CONTROLLER: a v1 hierarchy of the controller is mounted. Asks the mount table: /sys/fs/cgroup/CONTROLLER may be an empty
# directory.
has_v1() { grep -qE " - cgroup [^ ]+ ([^ ]+,)?$1(,|\$)" /proc/self/mountinfo; }
# has_unified: the unified hierarchy is mounted, alone or beside v1.
has_unified() { grep -qE ' - cgroup2 ' /proc/self/mountinfo; }

needs_v1() { if pure_v2; then skip "$1: this host has cgroup v2 only"; fi; }
needs_v2() { pure_v2 || skip "$1: this host has v1 hierarchies"; }

has_controller() { if pure_v2; then grep -qw "$1" /sys/fs/cgroup/cgroup.controllers; else has_v1 "$1"; fi; }
# needs_controller NAME
needs_controller() { has_controller "$1" || skip "the kernel, the delegated cgroup or the mounted hierarchies have no $1 controller"; }

# cgroup CONTROLLER [PATH]: prints the directory of the cgroup PATH (by default the container's) in the controller's hierarchy.
cgroup() { if pure_v2; then echo "/sys/fs/cgroup/${2:-$ID}"; else echo "/sys/fs/cgroup/$1/${2:-$ID}"; fi; }

# cgroups PATH: prints the directories of the cgroup PATH in all hierarchies, one a line; nothing if there is none.
cgroups() {
  if pure_v2; then compgen -G "/sys/fs/cgroup/$1"; else compgen -G "/sys/fs/cgroup/*/$1"; fi
  return 0
}

# make_cgroups PATH, remove_cgroups PATH: make or remove the cgroup in every hierarchy.
make_cgroups() {
  local top
  for top in /sys/fs/cgroup/ /sys/fs/cgroup/*/; do
    [[ ! -e $top/cgroup.procs ]] || mkdir "$top$1"
    if pure_v2; then return 0; fi
  done
}
remove_cgroups() { cgroups "$1" | xargs -r rmdir; }

# limit CONTROLLER V1_FILE V2_FILE: prints the value in the file of the container's cgroup.
limit() {
  local file=$2
  if pure_v2; then file=$3; fi
  cat "$(cgroup "$1")/$file"
}

# limited CONTROLLER V1_FILE=VALUE V2_FILE=VALUE: checks the value in whichever of both files this host has.
limited() {
  local expected=$2
  if pure_v2; then expected=$3; fi
  equal "$expected" "${expected%%=*}=$(limit "$1" "${2%%=*}" "${3%%=*}")"
}

# limited_inside CONTROLLER V1_FILE=VALUE V2_FILE=VALUE: as limited, but the file is read by a program in the container.
limited_inside() {
  local expected=$2 file=/sys/fs/cgroup/$1/${2%%=*}
  if pure_v2; then expected=$3 file=/sys/fs/cgroup/${3%%=*}; fi
  run ocirun exec "$ID" cat "$file"
  succeeds "${expected#*=}"
}

# event CONTROLLER V1_FILE V2_FILE KEY: prints the number of the line "KEY NUMBER" in the file; 0 without such a line.
event() { limit "$1" "$2" "$3" | sed -n "s/^$4 //p" | grep . || echo 0; }

# freeze PATH, unfreeze PATH
freeze() { if pure_v2; then echo 1 >"/sys/fs/cgroup/$1/cgroup.freeze"; else echo FROZEN >"/sys/fs/cgroup/freezer/$1/freezer.state"; fi; }
unfreeze() { if pure_v2; then echo 0 >"/sys/fs/cgroup/$1/cgroup.freeze"; else echo THAWED >"/sys/fs/cgroup/freezer/$1/freezer.state"; fi; }

# eats MB: prints a command of sh that takes so many megabytes and keeps them. Its own code writes them: in User-Mode Linux a read(2) that
# meets the memory limit of a cgroup in the middle of its buffer makes the kernel panic.
eats() { printf %s "awk 'BEGIN { s = sprintf(\"%1000000s\", \"\"); while (i < $1) a[i++] = s i; system(\"sleep 1000\") }'"; }
