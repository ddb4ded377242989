#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "pods/images/layer.hpp"
#include "pods/images/trees/byte_stream.hpp"

namespace ocirun::pods {

/// Reads a tar archive (v7, ustar, pax, GNU; sparse files) that is not compressed. libarchive
/// limits the headers of an entry to 1 MiB of pax attributes and 32 headers. The zeros after the
/// content of the last entry may be missing, as in layers of `umoci insert`.
class TarReader {
 public:
  /// `source` must outlive the reader.
  explicit TarReader(ByteStream& source);
  TarReader(TarReader&&) noexcept;
  ~TarReader();

  /// The next entry; nothing at the archive's end. Errors: a damaged archive; an ACL that names a
  /// user or group without the number.
  Result<std::optional<TarEntry>> next();

  /// A piece of the current file's content. `data` is valid until the next call.
  struct Piece {
    std::uint64_t offset = 0;  // in the file; between pieces are holes
    std::string_view data;
  };
  /// The next piece; nothing at the file's end.
  Result<std::optional<Piece>> read_piece();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ocirun::pods
