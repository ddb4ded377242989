// Debian ships fmt only as a shared library, which a static program cannot use. Only this file
// compiles the out-of-line part of fmt, so that the other files compile fast.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
#if FMT_VERSION >= 100000  // Debian 13
using ArgumentsOfChars = vformat_args<char>::type;
#else
using ArgumentsOfChars = basic_format_args<format_context>;
#endif
template FMT_API auto dragonbox::to_decimal(float x) noexcept -> dragonbox::decimal_fp<float>;
template FMT_API auto dragonbox::to_decimal(double x) noexcept -> dragonbox::decimal_fp<double>;
template FMT_API void buffer<char>::append(const char*, const char*);
template FMT_API void vformat_to(buffer<char>&, string_view, ArgumentsOfChars, locale_ref);
template FMT_API auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl<char>(locale_ref) -> char;
}  // namespace detail
FMT_END_NAMESPACE
