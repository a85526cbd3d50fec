// A cursor over a caller's character buffer that counts what did not fit, as snprintf does.
// Only for rendering; nothing on the packet path uses it.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

namespace uet::wire {

// The buffer always ends in a zero octet unless it is empty.
class Text {
 public:
  explicit Text(std::span<char> out) : out_(out) {
    if (!out_.empty()) out_[0] = '\0';
  }

  __attribute__((format(printf, 2, 3))) void add(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const size_t room = length_ < out_.size() ? out_.size() - length_ : 0;
    const int n =
        std::vsnprintf(room > 0 ? out_.data() + length_ : nullptr, room, format, arguments);
    va_end(arguments);
    if (n > 0) length_ += static_cast<size_t>(n);
  }

  // " word" when the flag is set.
  void flag(bool set, const char* word) {
    if (set) add(" %s", word);
  }

  // Characters of the whole text, including those that did not fit.
  size_t length() const { return length_; }

 private:
  std::span<char> out_;
  size_t length_ = 0;
};

}  // namespace uet::wire
