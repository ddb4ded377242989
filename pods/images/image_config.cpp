#include "pods/images/image_config.hpp"

#include "bundle/json/read_json.hpp"
#include "pods/images/fields.hpp"

namespace ocirun::pods {
namespace {

using bundle::field;
using bundle::fields;
using bundle::required_part;
using bundle::text;
using bundle::texts;
using bundle::Value;
using bundle::without_effect;

/// {"80/tcp": {}}: a set, in which only the names count.
bool read_names(Value at, std::vector<std::string>& out) {
  if (!at.expect_object()) return false;
  bool good = true;
  for (const Value member : at) {
    if (member.key().find('\0') != std::string_view::npos) {
      member.problem("the name contains NUL");
      good = false;
    }
    if (!member.is_null()) good &= member.expect_object();
    out.emplace_back(member.key());
  }
  return good;
}

constexpr auto kProcessDefaults = fields<ProcessDefaults>(
    field("User", &ProcessDefaults::user, text),
    field("ExposedPorts", &ProcessDefaults::exposed_ports, read_names),
    field("Env", &ProcessDefaults::env, bundle::list_of(bundle::environment_entry)),
    field("Entrypoint", &ProcessDefaults::entrypoint, texts),
    field("Cmd", &ProcessDefaults::cmd, texts),
    field("Volumes", &ProcessDefaults::volumes, read_names),
    field("WorkingDir", &ProcessDefaults::working_dir, text),
    field("Labels", &ProcessDefaults::labels, read_annotations),
    field("StopSignal", &ProcessDefaults::stop_signal, text),
    // Docker's builders also write these members. They describe the container that built the image,
    // or features of docker.
    without_effect("Hostname"), without_effect("Domainname"), without_effect("AttachStdin"),
    without_effect("AttachStdout"), without_effect("AttachStderr"), without_effect("Tty"),
    without_effect("OpenStdin"), without_effect("StdinOnce"), without_effect("Image"),
    without_effect("ArgsEscaped"), without_effect("OnBuild"), without_effect("MacAddress"),
    without_effect("NetworkDisabled"), without_effect("StopTimeout"), without_effect("Shell"),
    without_effect("Healthcheck"), without_effect("Memory"), without_effect("MemorySwap"),
    without_effect("CpuShares"));

constexpr auto kHistory = fields<History>(
    field("created", &History::created, text), field("created_by", &History::created_by, text),
    field("author", &History::author, text), field("comment", &History::comment, text),
    field("empty_layer", &History::empty_layer, bundle::flag));

bool read_rootfs_type(Value at, ImageConfig&) {
  std::string type;
  if (!text(at, type)) return false;
  if (type == "layers") return true;
  at.problem("must be \"layers\", not {}", bundle::found(at));
  return false;
}

bool read_diff_ids(Value at, ImageConfig& out) {
  if (!at.expect_list()) return false;
  bool good = true;
  for (const Value item : at) good &= read_digest(item, out.diff_ids.emplace_back());
  return good;
}

constexpr auto kRootfs = fields<ImageConfig>(required_part("type", read_rootfs_type),
                                             required_part("diff_ids", read_diff_ids));

constexpr auto kImageConfig = fields<ImageConfig>(
    required_part("architecture",
                  [](Value at, ImageConfig& out) { return text(at, out.platform.architecture); }),
    required_part("os", [](Value at, ImageConfig& out) { return text(at, out.platform.os); }),
    bundle::part("variant",
                 [](Value at, ImageConfig& out) { return text(at, out.platform.variant); }),
    field("created", &ImageConfig::created, text), field("author", &ImageConfig::author, text),
    field("config", &ImageConfig::config, kProcessDefaults), required_part("rootfs", kRootfs),
    field("history", &ImageConfig::history, bundle::list_of(kHistory)),
    without_effect("os.version"), without_effect("os.features"), without_effect("container"),
    without_effect("container_config"), without_effect("docker_version"), without_effect("id"),
    without_effect("parent"), without_effect("comment"), without_effect("Size"));

}  // namespace

Result<ImageConfig> parse_image_config(std::string_view what, std::string_view text) {
  return bundle::read_json<ImageConfig>(what, text, kImageConfig);
}

std::vector<Digest> chain_ids(const std::vector<Digest>& diff_ids) {
  std::vector<Digest> chain;
  for (const Digest& id : diff_ids)
    chain.push_back(chain.empty() ? id : digest_of(chain.back().text() + " " + id.text()));
  return chain;
}

}  // namespace ocirun::pods
