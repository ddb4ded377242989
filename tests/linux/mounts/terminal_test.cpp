#include "linux/mounts/terminal.hpp"

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <termios.h>

#include <cstring>

#include "tests/linux/mounts/scene.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;
namespace fs = std::filesystem;

namespace {

void mount_devpts(Scene& scene) {
  scene.mount(mount_of("/dev/pts", "devpts", "devpts", "newinstance,ptmxmode=0666,mode=0620"));
}

struct stat info_of_descriptor(Fd fd) { return must(sys::fstat(fd)); }

// The kernel hands a terminal's output to the master in as many pieces as it likes.
std::string read_bytes(Fd from, std::size_t count) {
  std::string text;
  char byte = 0;
  while (text.size() < count && ::read(from.value, &byte, 1) == 1) text += byte;
  return text;
}

void check_terminal() {
  ::signal(SIGHUP, SIG_IGN);  // the master is closed in the end
  Scene scene;
  scene.attach();
  mount_devpts(scene);
  const Terminal terminal = must(open_terminal(
      *scene.root, *scene.procfs, ConsoleSize{.height = 7, .width = 33}, must(Uid::make(12))));
  winsize size{};
  BOOST_TEST(::ioctl(terminal.slave.get(), TIOCGWINSZ, &size) == 0);
  BOOST_TEST((size.ws_row == 7 && size.ws_col == 33));
  termios settings{};
  BOOST_TEST(::tcgetattr(terminal.slave.get(), &settings) == 0);
  BOOST_TEST((settings.c_oflag & ONLCR) != 0u);  // engines' raw terminals need it
  BOOST_TEST(info_of_descriptor(terminal.slave).st_uid == 12u);
  BOOST_TEST(::write(terminal.slave.get(), "line\n", 5) == 5);
  BOOST_TEST(read_bytes(terminal.master, 6) == "line\r\n");

  must(attach_console(*scene.root, *scene.procfs, terminal.slave));
  struct stat console{};
  BOOST_TEST(::lstat("/tmp/rootfs/dev/console", &console) == 0);
  BOOST_TEST(console.st_rdev == info_of_descriptor(terminal.slave).st_rdev);
  BOOST_TEST(mount_at("/tmp/rootfs/dev/console").type == "devpts");
  must(pivot_into(*scene.root));
  BOOST_TEST(::setsid() > 0);
  must(become_controlling_terminal(terminal.slave));
  BOOST_TEST(::isatty(0) == 1);
  BOOST_TEST(info_of_descriptor(Fd{2}).st_rdev == console.st_rdev);
  BOOST_TEST(::tcgetsid(0) == ::getsid(0));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(terminal)

OCIRUN_CHILD_TEST(a_terminal_is_of_the_containers_own_devpts, CLONE_NEWNS) {
  check_terminal();
}  // P-2, P-3
OCIRUN_CHILD_TEST(a_terminal_in_a_user_namespace, CLONE_NEWNS | CLONE_NEWUSER) { check_terminal(); }
OCIRUN_CHILD_TEST(a_terminal_without_the_newer_calls, CLONE_NEWNS) {
  refuse_system_calls({SYS_openat2, SYS_fsopen, SYS_open_tree, SYS_move_mount, SYS_mount_setattr});
  check_terminal();
}

OCIRUN_CHILD_TEST(what_only_looks_like_ptmx_is_refused, CLONE_NEWNS) {  // CVE-2025-52565
  Scene scene;
  fs::create_directories("/tmp/rootfs/dev/pts");
  Scene::write("/tmp/rootfs/payload", "x");
  scene.attach();
  const auto error = [&] {
    return must_fail(open_terminal(*scene.root, *scene.procfs, {}, Uid()));
  };
  check_text(error(), "no such file or directory");
  fs::create_symlink("/payload", "/tmp/rootfs/dev/pts/ptmx");
  check_text(error(), "/dev/pts/ptmx is not on a devpts");
  fs::remove("/tmp/rootfs/dev/pts/ptmx");
  must(sys::mknodat(Fd{AT_FDCWD}, "/tmp/rootfs/dev/pts/ptmx", S_IFCHR | 0666, makedev(5, 2)));
  check_text(error(), "/dev/pts/ptmx is not on a devpts");
  fs::remove("/tmp/rootfs/dev/pts/ptmx");
  mount_devpts(scene);
  const Terminal other = must(open_terminal(*scene.root, *scene.procfs, {}, Uid()));
  must(sys::mount("/tmp/rootfs/dev/pts/0", "/tmp/rootfs/dev/pts/ptmx", nullptr, MS_BIND, nullptr));
  check_text(error(), "/dev/pts/ptmx is not the ptmx of a devpts");
}

OCIRUN_CHILD_TEST(the_console_is_never_reached_through_a_symlink, CLONE_NEWNS) {  // CVE-2025-52565
  Scene scene;
  Scene::write("/tmp/rootfs/payload", "payload");
  fs::create_symlink("/payload", "/tmp/rootfs/dev/console");
  scene.attach();
  mount_devpts(scene);
  const Terminal terminal = must(open_terminal(*scene.root, *scene.procfs, {}, Uid()));
  check_text(must_fail(attach_console(*scene.root, *scene.procfs, terminal.slave)),
             "/dev/console: it is a symlink or a directory");
  BOOST_TEST(!is_mounted("/tmp/rootfs/payload"));
  fs::remove("/tmp/rootfs/dev/console");
  Scene::write("/tmp/rootfs/dev/console", "");  // a file is covered
  must(attach_console(*scene.root, *scene.procfs, terminal.slave));
}

OCIRUN_CHILD_TEST(an_unmapped_owner_of_the_terminal_is_an_error, CLONE_NEWNS | CLONE_NEWUSER) {
  Scene scene;
  scene.attach();
  mount_devpts(scene);
  check_text(must_fail(open_terminal(*scene.root, *scene.procfs, {}, must(Uid::make(70000)))),
             "give the terminal to user 70000: change owner: invalid argument");
}

OCIRUN_CHILD_TEST(one_descriptor_crosses_a_socket_of_any_path_length, CLONE_NEWNS) {
  must(sys::mount("tmpfs", "/tmp", "tmpfs", 0, nullptr));
  const std::string deep = "/tmp/" + std::string(100, 'd') + "/" + std::string(150, 'e');
  fs::create_directories(deep);
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, "/tmp/short");
  BOOST_TEST(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  BOOST_TEST(::listen(listener.get(), 2) == 0);
  fs::rename("/tmp/short", deep + "/" + std::string(120, 's'));
  const UniqueFd client = must(connect_unix(HostPath(deep + "/" + std::string(120, 's'))));
  const UniqueFd server(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const UniqueFd null = must(sys::open("/dev/null", O_RDONLY));
  must(send_descriptor(client, null, "/dev/ptmx"));

  char payload[64] = {};
  alignas(cmsghdr) char control[256] = {};
  iovec data{payload, sizeof payload};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  BOOST_TEST(::recvmsg(server.get(), &message, MSG_CMSG_CLOEXEC) == 9);
  BOOST_TEST(std::string(payload) == "/dev/ptmx");
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  BOOST_REQUIRE(header != nullptr);
  BOOST_TEST(header->cmsg_len == CMSG_LEN(sizeof(int)));  // engines check this
  int got = -1;
  std::memcpy(&got, CMSG_DATA(header), sizeof got);
  const UniqueFd received(got);
  BOOST_TEST(info_of_descriptor(received).st_rdev == makedev(1, 3));

  BOOST_TEST(send_descriptor(client, null, "").error().number() == EINVAL);
  BOOST_TEST(connect_unix(HostPath("/tmp/none")).error().number() == ENOENT);
}

BOOST_AUTO_TEST_SUITE_END()
