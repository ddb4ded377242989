#include "shim/start/answer.hpp"

#include "bundle/json/writer.hpp"
#include "shim/start/start_messages.hpp"

namespace ocirun::shim {
namespace {

constexpr char kProtocol[] = "ttrpc";

std::string json_answer(const std::string& address) {
  bundle::JsonWriter json(bundle::JsonWriter::Layout::kOneLine);
  json.begin_object();
  json.member("version", 2).member("address", std::string_view(address));
  json.member("protocol", kProtocol);
  json.end_object();
  return std::move(json).take();
}

std::string message_answer(const std::string& address) {
  const std::string protocol = kProtocol;
  auto message = new_message<Shimstart__BootstrapResult>();
  message.version = 3;
  message.address = in_message(address);
  message.protocol = in_message(protocol);
  return bytes_of(message);
}

}  // namespace

std::string address_text(const std::string& socket) { return "unix://" + socket; }

std::string answer_text(AnswerForm form, const std::string& socket) {
  std::string address = address_text(socket);
  switch (form) {
    case AnswerForm::kPlain:
      return address;
    case AnswerForm::kJson:
      return json_answer(address);
    case AnswerForm::kMessage:
      return message_answer(address);
  }
  return address;
}

}  // namespace ocirun::shim
