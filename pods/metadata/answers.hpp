#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "pods/metadata/content.hpp"

namespace ocirun::pods {

/// An HTTP response. `body` is valid as long as the Answers object exists.
struct Response {
  unsigned status = 200;
  std::string_view media_type = "text/plain; charset=us-ascii";
  std::string_view body;
  std::string_view allow;  // of status 405: the methods that the resource has
  std::string text;        // the body, if it is made for this response
  std::string_view content() const { return text.empty() ? body : std::string_view(text); }
};

/// What a URL names.
enum class Target : std::uint8_t { kNothing, kResource, kSign, kVerify };

/// Computes the HMAC-SHA512 (RFC 2104) of a text that comes in pieces, as base64 (RFC 4648, section
/// 4).
class Signature {
 public:
  explicit Signature(std::string_view key);
  Signature(Signature&&) noexcept;
  Signature& operator=(Signature&&) noexcept;
  ~Signature();

  void add(std::string_view piece);
  /// Returns the signature. add() must not be called afterwards.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The form of a POST request to sign or verify: `content`, and for verify `uuid` and `signature`
/// too. Keeps the short fields, but only the signature of `content`.
class Form {
 public:
  explicit Form(std::string_view key) : signature_(key) {}

  /// Adds a piece of the field `name`, which begins at byte `offset` of the value. Ignores fields
  /// with other names.
  void add(std::string_view name, std::uint64_t offset, std::string_view piece);

 private:
  friend class Answers;
  void add_short(std::string& field, bool& is_there, std::uint64_t offset, std::string_view piece);

  Signature signature_;
  std::string uuid_, claimed_;
  bool has_content_ = false, has_uuid_ = false, has_claimed_ = false;
  bool is_bad_ = false;  // a field is given twice, or is too long
};

/// The answers of the App Container metadata service (AC-22) of one pod. server.cpp has the
/// connections.
class Answers {
 public:
  explicit Answers(Content content) : content_(std::move(content)) {}

  /// Finds what the path of a request names: "/TOKEN/acMetadata/v1/…". Compares the token in
  /// constant time.
  Target find(std::string_view path) const;
  /// The answer to a request without a form.
  Response answer(std::string_view path, std::string_view method) const;
  /// Whether a form has to be read for the request.
  bool wants_form(std::string_view path, std::string_view method) const;

  Form begin_form() const { return Form(content_.key); }
  /// The answer to a complete form that was posted to kSign or kVerify.
  Response answer_form(Target target, Form& form) const;

 private:
  const Resource* find_resource(std::string_view path) const;
  std::string_view below_token(std::string_view path) const;

  Content content_;
};

/// A response whose body is one sentence.
Response in_words(unsigned status, std::string_view sentence);

}  // namespace ocirun::pods
