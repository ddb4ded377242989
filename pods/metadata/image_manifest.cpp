#include <algorithm>
#include <map>

#include "bundle/json/writer.hpp"
#include "linux/base/letters.hpp"
#include "linux/base/text.hpp"
#include "pods/documents/appc/types.hpp"
#include "pods/metadata/manifest.hpp"
#include "pods/metadata/named_values.hpp"

namespace ocirun::pods {
namespace {

using bundle::JsonWriter;

/// Makes an AC Name of a text: "80/tcp" becomes "80-tcp".
std::string ac_name_from(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (linux::is_alphanumeric(c))
      name += linux::lower(c);
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (name.ends_with('-')) name.pop_back();
  return name;
}

/// The labels with which images are told apart. Those of the document come first.
Annotations labels_of(const ReifiedApp& app) {
  Annotations labels(app.container->image_labels.begin(), app.container->image_labels.end());
  labels.emplace("os", app.image->platform.os);
  labels.emplace("arch", app.image->platform.architecture);
  return labels;
}

void write_image_ports(const ImageConfig& image, JsonWriter& out) {
  out.key("ports").begin_array();
  for (const std::string& exposed : image.config.exposed_ports) {
    std::string_view protocol = exposed;
    const auto number = linux::number<std::uint16_t>(linux::cut(protocol, '/'));
    if (!number || *number == 0) continue;  // a range, which no port of an app is
    out.begin_object().member("name", ac_name_from(exposed));
    out.member("port", *number).member("protocol", protocol.empty() ? "tcp" : protocol);
    out.end_object();
  }
  out.end_array();
}

/// Writes the member `app`, unless the image has neither an entrypoint nor a command.
void write_image_app(const ImageConfig& image, JsonWriter& out) {
  std::vector<std::string> exec = image.config.entrypoint;
  exec.insert(exec.end(), image.config.cmd.begin(), image.config.cmd.end());
  if (exec.empty()) return;
  std::string_view group = image.config.user;
  const std::string_view user = linux::cut(group, ':');
  out.key("app").begin_object().member("exec", exec);
  out.member("user", user.empty() ? "0" : user).member("group", group.empty() ? "0" : group);
  if (!image.config.working_dir.empty()) out.member("workingDirectory", image.config.working_dir);
  write_environment(image.config.env, out);
  out.key("mountPoints").begin_array();
  for (const std::string& path : image.config.volumes)
    out.begin_object().member("name", ac_name_from(path)).member("path", path).end_object();
  out.end_array();
  write_image_ports(image, out);
  out.end_object();
}

}  // namespace

Annotations image_annotations(const ImageConfig& image) {
  Annotations annotations;
  for (const auto& [name, value] : image.config.labels)
    if (is_ac_identifier(name)) annotations.emplace(name, value);
  if (!image.created.empty()) annotations.emplace("created", image.created);
  if (!image.author.empty()) annotations.emplace("authors", image.author);
  return annotations;
}

std::string image_manifest(const ReifiedApp& app, const std::string& ac_version) {
  const Container& container = *app.container;
  JsonWriter out(JsonWriter::Layout::kOneLine);
  out.begin_object().member("acKind", "ImageManifest").member("acVersion", ac_version);
  out.member("name", container.image_name.empty() ? container.name : container.image_name);
  write_named_values("labels", labels_of(app), out);
  write_image_app(*app.image, out);
  write_named_values("annotations", image_annotations(*app.image), out);
  out.end_object();
  return std::move(out).take();
}

}  // namespace ocirun::pods
