#include <fcntl.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>

#include "linux/base/paths.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "pods/cli/options.hpp"
#include "pods/cli/run.hpp"
#include "pods/images/catalogue.hpp"
#include "pods/images/registry/pull.hpp"
#include "pods/prepare/find_image.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array kPullOptions{
    Option{"image", 0, "NAME=SOURCE",
           "take the image NAME of a document from SOURCE, such as docker://REFERENCE",
           Completes::kNothing, Times::kMany},
    kPullSecretOption,
    kPlainHttpOption,
    kPullTimeoutOption,
    kIgnoreOption,
    kDataOption,
};

/// Whether the operand names a document, and not an image: "-", an existing file, or a text that
/// looks like a path or ends as documents do. A mistyped file name is thus not taken for an image.
bool is_document(const std::string& operand) {
  constexpr std::string_view kEndings[] = {".yaml", ".yml", ".json"};
  if (operand == "-" || operand.starts_with('/') || operand.starts_with('.')) return true;
  for (const std::string_view ending : kEndings)
    if (operand.ends_with(ending) && !operand.contains(':')) return true;
  const auto found = linux::sys::fstatat(Fd{AT_FDCWD}, operand.c_str());
  return found && !S_ISDIR(found->st_mode);
}

AddOptions add_options_for(const std::string& image) {
  AddOptions options = options_for_this_namespace();
  if (::isatty(STDERR_FILENO) == 1)
    options.progress = [image](const AddProgress& progress) { show_unpacking(image, progress); };
  return options;
}

std::string line_of(const StoredImage& image, const std::string& name) {
  return fmt::format("{}  {}\n", image.digest.text(), linux::in_one_line(name));
}

Result<std::string> pull_document(const Arguments& arguments, const std::string& file,
                                  const Given& given, const Store& store) {
  OCIRUN_TRY_ASSIGN(const std::string text, within(read_document(file), shown_name(file)));
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> ignored, read_ignored(arguments));
  const Workload workload = read_workload(shown_name(file), text, ignored);
  for (const std::string& warning : workload.warnings) warn(warning);
  warn_of_pull_secrets(arguments, workload);
  if (!workload.problems.empty()) return refuse("{}", fmt::join(workload.problems, "; "));
  std::string lines;
  for (const Container* container : all_containers(workload.pod)) {
    OCIRUN_TRY_ASSIGN(const StoredImage image, find_image(workload, *container, given, store,
                                                          add_options_for(container->image)));
    lines += line_of(image, container->image);
  }
  return lines;
}

Result<std::string> pull_reference(const std::string& operand, const Given& given,
                                   const Store& store) {
  OCIRUN_TRY_ASSIGN(auto origin, Origin::parse(operand));
  if (!origin) {
    OCIRUN_TRY_ASSIGN(const Reference reference, Reference::parse(operand));
    origin = Origin::of(reference);
  }
  OCIRUN_TRY_ASSIGN(
      const StoredImage image,
      pull_image(store, *origin,
                 {.pulling = given.pulling, .policy = PullPolicy::kAlways, .auth_file = {}},
                 add_options_for(operand)));
  OCIRUN_TRY(remember(store, image, operand));
  return line_of(image, operand);
}

Result<int> pull_images(const Arguments& arguments, const Caller& caller) {
  Given given;
  OCIRUN_TRY_ASSIGN(given.pulling, read_pulling(arguments));
  given.pulling.policy = PullPolicy::kAlways;
  given.pulling.is_ordinary = caller.is_ordinary;
  OCIRUN_TRY_ASSIGN(given.images, pairs_of(arguments, "image"));
  OCIRUN_TRY_ASSIGN(const HostPath data, linux::absolute_path(data_of(arguments).string()));
  OCIRUN_TRY_ASSIGN(const Store store, Store::open_in(data));
  for (const std::string& operand : arguments.operands()) {
    OCIRUN_TRY_ASSIGN(const std::string lines, is_document(operand)
                                                   ? pull_document(arguments, operand, given, store)
                                                   : pull_reference(operand, given, store));
    OCIRUN_TRY(print(lines));
  }
  return 0;
}

}  // namespace

const Command kPull{{"pull",
                     "DOCUMENT|REFERENCE...",
                     "fetch images from their registries, and unpack them",
                     kPullOptions,
                     {1, kAnyNumber},
                     {kFiles}},
                    pull_images,
                    Rights::kRoot};

}  // namespace ocirun::pods::cli
