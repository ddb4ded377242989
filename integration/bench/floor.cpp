// floor … run --bundle DIR ID: what the kernel does for one container of lib/config.json, and
// nothing else: no JSON, no state, no filter, no check. It is what a runtime is compared with. It
// takes the fastest ways known: the container's process joins each v1 hierarchy by writing 0 to
// `tasks`, which waits for no RCU grace period, and is born in the unified one (CLONE_INTO_CGROUP).
// On cgroup v2 alone the device rules, a BPF program, are left out.
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/sched.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Hierarchy {
  // Of the directory in the container's /sys/fs/cgroup; "" where cgroup v2 is alone.
  std::string name;
  std::string cgroup;
  bool unified = false;
};

// Ends the program if a call has failed.
long must(long result, const std::string& what) {
  if (result >= 0) return result;
  std::perror(("floor: " + what).c_str());
  std::_Exit(111);
}

std::string read_file(const std::string& path) {
  char text[4096];
  const int fd = static_cast<int>(must(::open(path.c_str(), O_RDONLY | O_CLOEXEC), path));
  const long size = must(::read(fd, text, sizeof text), path);
  ::close(fd);
  return {text, static_cast<std::size_t>(size)};
}

void write_file(const std::string& path, std::initializer_list<std::string_view> values) {
  const int fd = static_cast<int>(must(::open(path.c_str(), O_WRONLY | O_CLOEXEC), path));
  for (const std::string_view value : values)
    must(::write(fd, value.data(), value.size()), "write to " + path);
  ::close(fd);
}

// From the lines "7:memory:/" and "0::/" of /proc/self/cgroup.
std::vector<Hierarchy> find_hierarchies(const std::string& id) {
  std::vector<Hierarchy> found;
  const std::string lines = read_file("/proc/self/cgroup");
  for (std::size_t at = 0; at < lines.size(); at = lines.find('\n', at) + 1) {
    const std::size_t begin = lines.find(':', at) + 1;
    std::string name = lines.substr(begin, lines.find(':', begin) - begin);
    if (name.starts_with("name=")) name.erase(0, 5);
    const bool unified = name.empty();
    if (unified && ::access("/sys/fs/cgroup/cgroup.procs", F_OK) != 0) name = "unified";
    const std::string top = "/sys/fs/cgroup/" + name;
    if (::access((top + "/cgroup.procs").c_str(), F_OK) == 0)
      found.push_back({.name = name, .cgroup = top + "/" + id, .unified = unified});
  }
  return found;
}

void make_cgroup(const Hierarchy& hierarchy) {
  const std::string& cgroup = hierarchy.cgroup;
  must(::mkdir(cgroup.c_str(), 0755), cgroup);
  if (hierarchy.name.contains("cpuset"))
    for (const std::string file : {"/cpuset.cpus", "/cpuset.mems"})
      write_file(cgroup + file, {read_file(cgroup + "/.." + file)});
  if (hierarchy.name == "devices") {
    write_file(cgroup + "/devices.deny", {"a"});
    write_file(cgroup + "/devices.allow",
               {"c *:* m", "b *:* m", "c 1:3 rwm", "c 1:5 rwm", "c 1:7 rwm", "c 1:8 rwm",
                "c 1:9 rwm", "c 5:0 rwm", "c 5:1 rwm", "c 5:2 rwm", "c 136:* rwm"});
  }
}

void attach(const char* source, const std::string& target, const char* type, unsigned long flags,
            const char* data = nullptr) {
  must(::mount(source, target.c_str(), type, flags, data), "mount " + target);
}

void bind_read_only(const std::string& source, const std::string& target) {
  if (::access(target.c_str(), F_OK) != 0) return;
  attach(source.c_str(), target, nullptr, MS_BIND | MS_REC);
  attach(nullptr, target, nullptr,
         MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC);
}

void make_mounts(const std::vector<Hierarchy>& hierarchies) {
  constexpr unsigned long kInert = MS_NOSUID | MS_NOEXEC | MS_NODEV;
  attach("proc", "proc", "proc", 0);
  attach("tmpfs", "dev", "tmpfs", MS_NOSUID | MS_STRICTATIME, "mode=755,size=65536k");
  for (const char* directory : {"dev/pts", "dev/shm", "dev/mqueue"}) ::mkdir(directory, 0755);
  attach("devpts", "dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
         "newinstance,ptmxmode=0666,mode=0620,gid=5");
  attach("shm", "dev/shm", "tmpfs", kInert, "mode=1777,size=65536k");
  attach("mqueue", "dev/mqueue", "mqueue", kInert);
  attach("sysfs", "sys", "sysfs", kInert | MS_RDONLY);
  if (hierarchies.size() > 1) attach("cgroup", "sys/fs/cgroup", "tmpfs", kInert, "mode=755");
  for (const Hierarchy& hierarchy : hierarchies) {
    const std::string target = "sys/fs/cgroup/" + hierarchy.name;
    ::mkdir(target.c_str(), 0755);
    bind_read_only(hierarchy.cgroup, target);
  }
  if (hierarchies.size() > 1)
    attach(nullptr, "sys/fs/cgroup", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | kInert);
}

void make_devices() {
  struct Node {
    const char* path;
    unsigned major, minor;
  };
  for (const Node& node :
       {Node{"dev/null", 1, 3}, Node{"dev/zero", 1, 5}, Node{"dev/full", 1, 7},
        Node{"dev/random", 1, 8}, Node{"dev/urandom", 1, 9}, Node{"dev/tty", 5, 0}})
    must(::mknod(node.path, S_IFCHR | 0666, makedev(node.major, node.minor)), node.path);
  for (const auto& [target, path] :
       {std::pair("/proc/self/fd", "dev/fd"), std::pair("/proc/self/fd/0", "dev/stdin"),
        std::pair("/proc/self/fd/1", "dev/stdout"), std::pair("/proc/self/fd/2", "dev/stderr"),
        std::pair("pts/ptmx", "dev/ptmx")})
    must(::symlink(target, path), path);
}

void mask_paths() {
  for (const char* path : {"proc/bus", "proc/fs", "proc/irq", "proc/sys", "proc/sysrq-trigger"})
    bind_read_only(path, path);
  for (const char* path : {"proc/kcore", "proc/keys", "proc/timer_list"})
    if (::access(path, F_OK) == 0) attach("dev/null", path, nullptr, MS_BIND);
  attach("tmpfs", "sys/firmware", "tmpfs", MS_RDONLY, "size=0k");
  if (::access("proc/acpi", F_OK) == 0) attach("sys/firmware", "proc/acpi", nullptr, MS_BIND);
}

void limit_privileges() {
  constexpr std::uint32_t kKept =
      1U << CAP_AUDIT_WRITE | 1U << CAP_KILL | 1U << CAP_NET_BIND_SERVICE;
  for (unsigned capability = 0; ::prctl(PR_CAPBSET_READ, capability) >= 0; ++capability)
    if (capability >= 32 || (kKept >> capability & 1U) == 0) ::prctl(PR_CAPBSET_DROP, capability);
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct sets[2] = {{.effective = kKept, .permitted = kKept, .inheritable = 0}, {}};
  must(::syscall(SYS_capset, &header, sets), "capset");
  must(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
}

[[noreturn]] void be_container(const std::vector<Hierarchy>& hierarchies,
                               const std::string& rootfs) {
  for (const Hierarchy& hierarchy : hierarchies)
    if (!hierarchy.unified) write_file(hierarchy.cgroup + "/tasks", {"0"});
  must(::unshare(CLONE_NEWCGROUP), "unshare");
  ::setsid();
  must(::sethostname("box", 3), "sethostname");
  must(::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr), "keyring");
  const int socket =
      static_cast<int>(must(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket"));
  ifreq loopback{.ifr_ifrn = {.ifrn_name = "lo"}, .ifr_ifru = {.ifru_flags = IFF_UP | IFF_RUNNING}};
  must(::ioctl(socket, SIOCSIFFLAGS, &loopback), "lo");
  ::close(socket);

  ::umask(0);
  attach(nullptr, "/", nullptr, MS_REC | MS_PRIVATE);
  attach(rootfs.c_str(), rootfs, nullptr, MS_BIND | MS_REC);
  must(::chdir(rootfs.c_str()), rootfs);
  make_mounts(hierarchies);
  make_devices();
  mask_paths();
  must(::syscall(SYS_pivot_root, ".", "."), "pivot_root");
  must(::umount2(".", MNT_DETACH), "leave the host's root");
  must(::chdir("/"), "/");
  ::umask(022);

  limit_privileges();
  char program[] = "/bin/true";
  char* words[] = {program, nullptr};
  char path[] = "PATH=/bin";
  char* environment[] = {path, nullptr};
  must(::execve(program, words, environment), program);
  std::_Exit(111);
}

}  // namespace

int main(int count, char** words) {
  std::string bundle;
  for (int i = 1; i + 1 < count; ++i)
    if (std::string_view(words[i]) == "--bundle") bundle = words[i + 1];
  const std::vector<Hierarchy> hierarchies = find_hierarchies(words[count - 1]);
  clone_args arguments{};
  arguments.flags = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET;
  arguments.exit_signal = SIGCHLD;
  for (const Hierarchy& hierarchy : hierarchies) {
    make_cgroup(hierarchy);
    if (!hierarchy.unified) continue;
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<std::uint64_t>(
        must(::open(hierarchy.cgroup.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), "cgroup"));
  }
  const long child = must(::syscall(SYS_clone3, &arguments, sizeof arguments), "clone3");
  if (child == 0) be_container(hierarchies, bundle + "/rootfs");
  int status = 0;
  must(::waitpid(static_cast<pid_t>(child), &status, 0), "wait");
  for (const Hierarchy& hierarchy : hierarchies)
    must(::rmdir(hierarchy.cgroup.c_str()), hierarchy.cgroup);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
