#pragma once

// Records: JSON objects in files that ocirun writes for itself and reads back. One table of fields
// (fields.hpp) does both, so that no member is written and not read, or read and not written.

#include <fcntl.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "bundle/json/fields.hpp"
#include "bundle/json/writer.hpp"
#include "linux/base/file_io.hpp"

namespace ocirun::bundle {

/// The errno of the error for a record that a newer version of ocirun wrote.
inline constexpr int kNewerRecord = ENOTSUP;

/// The member "format" of a record: 1 to `newest` when read, `newest` when written.
struct RecordFormat {
  int newest;
  /// Sets `out` also to a number above `newest`, and reports the problem that a newer version of
  /// ocirun wrote the record.
  bool operator()(Value at, int& out) const;
  void write(JsonWriter& out, int) const { out.value(newest); }
};

/// One of the words of `kTable`, an array of linux::Named. `what` names the enumeration in
/// messages.
template <const auto& kTable>
struct RecordWord {
  std::string_view what;
  bool operator()(Value at, auto& out) const { return word_of<kTable>(what)(at, out); }
  void write(JsonWriter& out, auto value) const { out.value(linux::name_of(kTable, value)); }
};

template <typename Struct, typename... Rows>
void write_record(JsonWriter& out, const Fields<Struct, Rows...>& table, const Struct& record);

/// Writes a value that `reader` can read: as reader.write() does, if the reader has that function,
/// else as an object for a table, as a list for a list, and as the JSON value of its type.
template <typename Reader, typename T>
void write_value(JsonWriter& out, const Reader& reader, const T& value) {
  if constexpr (requires { reader.write(out, value); }) {
    reader.write(out, value);
  } else if constexpr (requires { reader.rows(); }) {
    write_record(out, reader, value);
  } else if constexpr (requires { reader.element; }) {
    out.begin_array();
    for (const auto& element : value) write_value(out, reader.element, element);
    out.end_array();
  } else {
    out.value(value);
  }
}

/// Writes one row. An optional row (field()) is left out if the value is that of a new Struct.
template <Presence kPresence, typename Struct, typename Member, typename Reader>
void write_row(JsonWriter& out, const Field<kPresence, Struct, Member, Reader>& row,
               const Struct& record) {
  const Member& value = record.*row.member;
  if constexpr (kIsOptional<Member>) {
    if (value) write_value(out.key(row.key), row.reader, *value);
  } else {
    if constexpr (kPresence == Presence::kOptional)
      if (value == Struct().*row.member) return;
    write_value(out.key(row.key), row.reader, value);
  }
}

/// Writes the part of the record that the row's reader reads, with its key, or nothing.
template <typename Reader, typename Struct>
void write_row(JsonWriter& out, const Part<Reader>& row, const Struct& record) {
  row.reader.write_member(out, row.key, record);
}

template <typename Struct, typename... Rows>
void write_record(JsonWriter& out, const Fields<Struct, Rows...>& table, const Struct& record) {
  out.begin_object();
  std::apply([&](const auto&... rows) { (write_row(out, rows, record), ...); }, table.rows());
  out.end_object();
}

/// The JSON text of a record.
template <typename Struct, typename... Rows>
std::string text_of(const Fields<Struct, Rows...>& table, const Struct& record,
                    JsonWriter::Layout layout) {
  JsonWriter out(layout);
  write_record(out, table, record);
  return std::move(out).take();
}

template <typename Row, typename Struct>
bool is_newer_format(const Row& row, const Struct& record) {
  if constexpr (requires { row.reader.newest; })
    return record.*row.member > row.reader.newest;
  else
    return false;
}

/// Reads the text of text_of(). The error begins with `what`, and names the first problem. `newer`
/// is the errno of the error for a record that a newer version wrote; 0 for none.
template <typename Struct, typename... Rows>
Result<Struct> parse_record(std::string_view what, std::string_view text,
                            const Fields<Struct, Rows...>& table, int newer = 0) {
  Document document;
  Report report;
  Struct record;
  if (document.parse(text, report)) table(Value(*document.root(), report), record);
  if (report.ok()) return record;
  const bool is_newer = std::apply(
      [&](const auto&... rows) { return (is_newer_format(rows, record) || ...); }, table.rows());
  if (is_newer) return fail(newer, "{}: {}", what, report.problems().front());
  return refuse("{}: {}", what, report.first_problem());
}

/// Replaces the file `name` of the directory atomically. Only the caller can read the file.
template <typename Struct, typename... Rows>
Result<void> replace_record(Fd directory, const std::string& name,
                            const Fields<Struct, Rows...>& table, const Struct& record) {
  const std::string text = text_of(table, record, JsonWriter::Layout::kIndented);
  return linux::replace_file(directory, name, text, 0600);
}
/// Reads a file of replace_record(). Errors: ENOENT; a file of more than `most_bytes`; another
/// text; kNewerRecord.
template <typename Struct, typename... Rows>
Result<Struct> read_record(Fd directory, const std::string& name, std::size_t most_bytes,
                           const Fields<Struct, Rows...>& table) {
  OCIRUN_TRY_ASSIGN(const std::string text,
                    linux::read_file(directory, name, most_bytes, O_NOFOLLOW));
  return parse_record(name, text, table, kNewerRecord);
}

}  // namespace ocirun::bundle
