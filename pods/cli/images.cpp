#include <fmt/format.h>
#include <fmt/ranges.h>
#include <array>

#include "bundle/json/writer.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/text.hpp"
#include "pods/cli/commands.hpp"
#include "pods/cli/options.hpp"
#include "pods/images/catalogue.hpp"
#include "pods/run/manage.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array kImagesOptions{
    kFormatOption,
    kDataOption,
};

/// The images of all pods. Fails if a record cannot be read, because the pod might use any image.
Result<std::vector<std::string>> images_in_use(const HostPath& data) {
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(data));
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> names, pods.names());
  std::vector<std::string> images;
  for (const std::string& name : names) {
    OCIRUN_TRY_ASSIGN(const PodView view, view_pod(pods, name));
    images.insert(images.end(), view.record.images.begin(), view.record.images.end());
  }
  return images;
}

std::string json_of_image(const std::vector<KnownImage>& images) {
  bundle::JsonWriter out(bundle::JsonWriter::Layout::kIndented);
  out.begin_array();
  for (const KnownImage& image : images) {
    out.begin_object().member("names", image.names).member("digest", image.digest.text());
    out.member("created", image.created).member("layers", image.layers.size()).end_object();
  }
  return std::move(out.end_array()).take() + "\n";
}

std::string text_of(const std::vector<KnownImage>& images) {
  std::string text;
  for (const KnownImage& image : images)
    text += fmt::format("{}  {}\n", image.digest.text(),
                        linux::in_one_line(fmt::format("{}", fmt::join(image.names, " "))));
  return text;
}

Result<int> images(const Arguments& arguments, const Caller&) {
  OCIRUN_TRY_ASSIGN(const bool json, wants_json(arguments));
  OCIRUN_TRY_ASSIGN(const HostPath data, linux::absolute_path(data_of(arguments).string()));
  OCIRUN_TRY_ASSIGN(const Store store, Store::open_in(data));
  std::vector<KnownImage> shown;
  if (arguments.operands().empty()) {
    OCIRUN_TRY_ASSIGN(shown, known_images(store));
  } else if (arguments.operands().size() == 1 && arguments.operands().front() == "prune") {
    OCIRUN_TRY_ASSIGN(const std::vector<std::string> used, images_in_use(data));
    OCIRUN_TRY_ASSIGN(shown, prune_images(store, used));
  } else {
    return refuse("\"{}\": must be prune, or nothing", arguments.operands().front());
  }
  OCIRUN_TRY(print(json ? json_of_image(shown) : text_of(shown)));
  return 0;
}

}  // namespace

const Command kImages{{"images",
                       "[prune]",
                       "list the unpacked images; prune removes those that no pod uses",
                       kImagesOptions,
                       {0, 1},
                       {Operand{Completes::kWords}}},
                      images,
                      Rights::kRoot};

}  // namespace ocirun::pods::cli
