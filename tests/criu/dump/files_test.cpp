#include "criu/dump/files.hpp"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/criu/dump/image_text.hpp"
#include "tests/linux/mounts/scene.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

// The fields of criu's messages that these tests write.
constexpr unsigned kRegular = 3, kInotify = 13, kFanotify = 14, kUnix = 16;

/// A regular file in the mount 1.
std::string file(std::uint32_t id, const std::string& name) {
  return number(1, 1) + number(2, id) + text(kRegular, text(6, name) + number(7, 2));
}
std::string ghost(std::uint32_t mode) { return number(1, 0) + number(2, 0) + number(3, mode); }
std::string remap(std::uint32_t original, std::uint32_t id, std::uint32_t type) {
  return number(1, original) + number(2, id) + number(3, type);
}
constexpr std::uint32_t kLinkedType = 0, kGhostType = 1, kProcfsType = 2;

/// The images of a container of which the root file system has a directory and a symlink.
struct FileImages {
  FileImages() {
    std::filesystem::create_directories(scratch.path() + "/rootfs/below");
    std::filesystem::create_directory_symlink("/proc/1/root", scratch.path() + "/rootfs/link");
    config.root_path = HostPath(scratch.path() + "/rootfs");
    mounts.push_back(
        {.id = 1, .point = "/", .root = "/", .type = "ext4", .is_containers_root = true});
    files({file(5, "/below/gone")});
  }
  void write(const std::string& name, const std::string& bytes) const {
    scratch.file(name, bytes, 0600);
  }
  void files(std::initializer_list<std::string> entries) const {
    write("files.img", image(ImageKind::kFiles, entries));
  }
  void remaps(std::initializer_list<std::string> entries) const {
    write("remap-fpath.img", image(ImageKind::kRemaps, entries));
  }
  void ghosts_mode(std::uint32_t mode) const {
    write("ghost-file-a.img", image(ImageKind::kGhost, {ghost(mode)}) + "content");
  }
  /// The error; "" for none.
  std::string refusal() const {
    const UniqueFd directory = scratch.open();
    const auto files = read_image_files(directory);
    if (!files) return files.error().message();
    const auto checked = check_image_files(*files, ImagePlaces(mounts, config));
    return checked ? "" : checked.error().message();
  }
  /// With this entry as the only one of files.img.
  std::string refusal_of(const std::string& entry) const {
    files({entry});
    return refusal();
  }

  Scratch scratch;
  bundle::Config config;
  std::vector<ImageMount> mounts;
};

std::string socket(const std::string& fields) {
  return number(1, 5) + number(2, 6) + text(kUnix, fields);
}
std::string inotify(const std::string& handle) {
  return number(1, 8) + number(2, 6) + text(kInotify, text(5, number(2, 9) + text(7, handle)));
}
std::string fanotify(const std::string& mark) {
  return number(1, 12) + number(2, 6) + text(kFanotify, text(6, mark));
}
std::string packet(const std::string& more, const std::string& data) {
  const std::string entry = number(1, 6) + number(2, data.size()) + more;
  return word(static_cast<std::uint32_t>(entry.size())) + entry + data;
}

/// The error for an open file of a type, the field `file`, with the receiver `pid` in the field
/// `owner`; "" for none.
std::string refusal_of_receiver(unsigned file, unsigned owner, std::uint32_t pid) {
  const Scratch scratch;
  const std::string sender = text(owner, number(3, 9) + number(4, 1) + number(5, pid));
  scratch.file("files.img", image(ImageKind::kFiles, {number(2, 1) + text(file, sender)}), 0600);
  const std::vector<ImageProcess> processes{{.pid = 7, .threads = {7, 8}}, {.pid = 9}};
  const UniqueFd directory = scratch.open();
  const auto checked = check_signal_receivers(must(read_image_files(directory)), processes);
  return checked ? "" : checked.error().message();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(file_images)

BOOST_AUTO_TEST_CASE(an_open_file_has_the_message_of_its_type_alone) {
  const FileImages images;
  const std::string regular = text(kRegular, number(2, 2) + text(6, "/below/file"));
  for (const std::string& entry :
       {number(1, 6) + number(2, 5) + regular, number(1, 77) + number(2, 5) + regular,
        number(1, 1) + number(2, 5) + regular + text(8, number(1, 5))})
    check_text(images.refusal_of(entry), "has a message of another type");
  check_text(images.refusal_of(number(1, 1) + number(2, 5) + regular + regular), "is damaged");
}

BOOST_AUTO_TEST_CASE(open_files_are_not_made_or_emptied) {
  const FileImages images;
  for (const std::uint32_t flag : {01000U, 0100U, 0200U}) {
    const std::string fields = number(2, flag | 2) + text(6, "/below/file");
    check_text(images.refusal_of(number(1, 1) + number(2, 5) + text(kRegular, fields)),
               "files.img: the open file \"/below/file\" has flags with which criu would make");
  }
}

BOOST_AUTO_TEST_CASE(files_with_plain_paths_pass) {
  const FileImages images;
  BOOST_TEST(images.refusal() == "");
  BOOST_TEST(images.refusal_of(file(5, "/link/..hidden/x..")) ==
             "");  // restored below its own root
}

BOOST_AUTO_TEST_CASE(images_without_the_list_of_files_are_refused) {
  const FileImages images;
  std::filesystem::remove(images.scratch.path() + "/files.img");
  check_text(images.refusal(), "files.img, which criu 3.11 and newer ones write, is missing");
}

BOOST_AUTO_TEST_CASE(no_path_of_a_file_leads_up) {
  using namespace std::string_literals;
  const FileImages images;
  check_text(images.refusal_of(file(5, "/below/../../etc")),
             "files.img: the path \"/below/../../etc\" is not plain");
  check_text(images.refusal_of(file(5, "../x")), "is not plain");
  check_text(images.refusal_of(file(5, "/below\0/x"s)), "is not plain");
  // criu would merge the two messages.
  check_text(images.refusal_of(number(1, 1) + number(2, 5) + text(kRegular, text(6, "/../x")) +
                               text(kRegular, number(7, 2))),
             "is damaged");
}

BOOST_AUTO_TEST_CASE(no_path_of_a_socket_leads_up) {
  using namespace std::string_literals;
  const FileImages images;
  BOOST_TEST(images.refusal_of(socket(text(11, "/run/socket\0"s))) == "");
  BOOST_TEST(images.refusal_of(socket(text(11, "socket") + text(14, "/run"))) == "");
  BOOST_TEST(images.refusal_of(socket(text(11, "\0../abstract"s))) == "");
  check_text(images.refusal_of(socket(text(11, "/run/../x\0"s))), "is not plain");
  check_text(images.refusal_of(socket(text(11, "x") + text(14, "/run/.."))), "is not plain");
}

BOOST_AUTO_TEST_CASE(a_watch_has_a_path) {
  const FileImages images;
  BOOST_TEST(images.refusal_of(inotify(text(4, "/below"))) == "");
  check_text(images.refusal_of(inotify(number(3, 77))),
             "a watch of inotify or fanotify has no path");
  check_text(images.refusal_of(inotify(text(4, "/../etc"))), "is not plain");
  BOOST_TEST(images.refusal_of(fanotify(text(7, text(2, text(4, "/below"))))) == "");
  check_text(images.refusal_of(fanotify(text(7, text(2, number(3, 77))))), "has no path");
  BOOST_TEST(images.refusal_of(fanotify(text(8, text(2, "/below")))) == "");
  check_text(images.refusal_of(fanotify(text(8, text(2, "/below/..")))), "is not plain");
}

BOOST_AUTO_TEST_CASE(a_deleted_file_is_made_again_where_no_symlink_leads) {
  const FileImages images;
  images.ghosts_mode(S_IFREG | 0600);
  images.remaps({remap(5, 10, kGhostType)});
  BOOST_TEST(images.refusal() == "");
  images.remaps({number(1, 5) + number(2, (std::uint64_t{1} << 31) + 10)});  // as old ones have it
  BOOST_TEST(images.refusal() == "");
  check_text(images.refusal_of(file(5, "/link/gone")),
             "remap-fpath.img: criu would make or remove the file \"/link/gone\": a symlink");
  images.remaps({remap(5, 10, kGhostType)});
  check_text(images.refusal(), "a symlink is a part of the path");
}

BOOST_AUTO_TEST_CASE(a_deleted_file_is_no_symlink_and_no_device) {
  const FileImages images;
  images.remaps({remap(5, 10, kGhostType)});
  for (const unsigned mode : {0100000U, 0040000U, 0010000U, 0140000U}) {
    images.ghosts_mode(mode | 0600U);
    BOOST_TEST(images.refusal() == "");
  }
  for (const unsigned mode : {0120000U, 0060000U, 0020000U}) {
    images.ghosts_mode(mode | 0600U);
    check_text(images.refusal(), "ghost-file-a.img: criu would make a symlink or a device");
  }
  std::filesystem::remove(images.scratch.path() + "/ghost-file-a.img");
  check_text(images.refusal(), "ghost-file-a.img: open");
}

BOOST_AUTO_TEST_CASE(a_link_to_a_deleted_file_is_removed_where_no_symlink_leads) {
  const FileImages images;
  images.files({file(5, "/below/gone"), file(6, "/below/link_remap.6")});
  images.remaps({remap(5, 6, kLinkedType)});
  BOOST_TEST(images.refusal() == "");
  images.files({file(5, "/below/gone"), file(6, "/link/link_remap.6")});
  check_text(images.refusal(), "the file \"/link/link_remap.6\": a symlink");
  images.remaps({number(1, 5) + number(2, 6)});
  check_text(images.refusal(), "the file \"/link/link_remap.6\": a symlink");
}

BOOST_AUTO_TEST_CASE(a_file_of_a_dead_process_is_not_made) {
  const FileImages images;
  images.files({file(5, "/link/status")});
  images.remaps({remap(5, 6, kProcfsType)});
  BOOST_TEST(images.refusal() == "");
}

BOOST_AUTO_TEST_CASE(a_remap_names_files_of_the_images) {
  const FileImages images;
  images.ghosts_mode(S_IFREG | 0600);
  images.remaps({remap(8, 10, kGhostType)});
  check_text(images.refusal(), "files.img has no file with the number 8");
}

BOOST_AUTO_TEST_CASE(no_descriptor_is_on_its_way_through_a_socket) {
  const FileImages images;
  const std::string begin = image(ImageKind::kSocketQueues, {});
  images.write("sk-queues.img", begin + packet("", "data") + packet("", ""));
  BOOST_TEST(images.refusal() == "");
  images.write("sk-queues.img", begin + packet("", "data") + packet(text(4, number(1, 1)), "x"));
  check_text(images.refusal(), "sk-queues.img: descriptors are on their way");
}

BOOST_AUTO_TEST_CASE(damaged_images_are_refused) {
  for (const char* name : {"files.img", "remap-fpath.img", "sk-queues.img"}) {
    const FileImages images;
    images.write(name, "damaged");
    check_text(images.refusal(), name);
  }
}

BOOST_AUTO_TEST_CASE(files_send_signals_to_processes_and_threads_of_the_images) {
  for (const std::uint32_t pid : {0U, 7U, 8U, 9U}) BOOST_TEST(refusal_of_receiver(3, 5, pid) == "");
}

BOOST_AUTO_TEST_CASE(files_of_no_type_send_signals_to_others) {
  constexpr std::pair<unsigned, unsigned> kTypes[] = {
      {3, 5},  {4, 13}, {6, 6},  {7, 11}, {8, 3},  {9, 3},  {10, 3}, {12, 3}, {13, 4},
      {14, 3}, {15, 5}, {16, 9}, {18, 4}, {19, 4}, {20, 4}, {21, 4}, {22, 5}};
  for (const auto& [file, owner] : kTypes)
    check_text(refusal_of_receiver(file, owner, 1),
               "files.img: an open file sends signals to process 1, which the images do not have");
}

BOOST_AUTO_TEST_SUITE_END()
