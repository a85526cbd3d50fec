// Text of IP addresses, both ways.
#include "wire/ip_address.h"

#include <charconv>

namespace uet::wire {

namespace {

uint16_t group(const IpAddress& a, size_t i) {
  return static_cast<uint16_t>(a.octets[2 * i] << 8 | a.octets[2 * i + 1]);
}

struct Run {
  size_t start = 8;
  size_t length = 0;
};

// The longest run of two or more zero groups, the first of equals.
Run longest_zero_run(const IpAddress& a) {
  Run best;
  for (size_t i = 0; i < 8;) {
    size_t end = i;
    while (end < 8 && group(a, end) == 0) ++end;
    if (end - i > best.length && end - i >= 2) best = {i, end - i};
    i = end == i ? i + 1 : end;
  }
  return best;
}

// Reads digits of the base up to `most`; moves `at` behind them.
bool number(std::string_view text, size_t& at, int base, size_t digits_max, uint32_t most,
            uint32_t& value) {
  const char* first = text.data() + at;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, value, base);
  const auto digits = static_cast<size_t>(end - first);
  if (error != std::errc{} || digits > digits_max || value > most) return false;
  at += digits;
  return true;
}

Result<IpAddress> parse_v4(std::string_view text) {
  IpAddress a;
  size_t at = 0;
  for (size_t i = 0; i < 4; ++i) {
    uint32_t octet = 0;
    if (i > 0 && (at >= text.size() || text[at++] != '.')) return Errc::invalid;
    if (!number(text, at, 10, 3, 255, octet)) return Errc::invalid;
    a.octets[i] = static_cast<uint8_t>(octet);
  }
  if (at != text.size()) return Errc::invalid;
  return a;
}

// Groups of one side of "::"; the count, or 9 when the text is wrong.
size_t parse_groups(std::string_view text, std::array<uint16_t, 8>& groups) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) {
    uint32_t value = 0;
    if (count == 8) return 9;
    if (count > 0 && text[at++] != ':') return 9;
    if (!number(text, at, 16, 4, 0xFFFF, value)) return 9;
    groups[count] = static_cast<uint16_t>(value);
  }
  return count;
}

Result<IpAddress> parse_v6(std::string_view text) {
  const size_t gap = text.find("::");
  std::array<uint16_t, 8> head{};
  std::array<uint16_t, 8> tail{};
  const size_t head_count = parse_groups(text.substr(0, gap), head);
  const size_t tail_count =
      gap == std::string_view::npos ? 0 : parse_groups(text.substr(gap + 2), tail);
  const size_t count = head_count + tail_count;
  if (gap == std::string_view::npos ? count != 8 : count > 7) return Errc::invalid;
  IpAddress a{.family = IpFamily::v6};
  for (size_t i = 0; i < tail_count; ++i) head[8 - tail_count + i] = tail[i];
  for (size_t i = 0; i < 8; ++i) {
    a.octets[2 * i] = static_cast<uint8_t>(head[i] >> 8);
    a.octets[2 * i + 1] = static_cast<uint8_t>(head[i]);
  }
  return a;
}

}  // namespace

void print(Text& text, const IpAddress& a) {
  if (a.family == IpFamily::v4) {
    text.add("%u.%u.%u.%u", a.octets[0], a.octets[1], a.octets[2], a.octets[3]);
    return;
  }
  const Run zeros = longest_zero_run(a);
  for (size_t i = 0; i < 8; ++i) {
    if (i == zeros.start) {
      text.add("::");
      i += zeros.length - 1;
      continue;
    }
    const bool after_gap = i == zeros.start + zeros.length;
    text.add(i == 0 || after_gap ? "%x" : ":%x", group(a, i));
  }
}

Result<IpAddress> parse_ip_address(std::string_view text) {
  if (text.find(':') == std::string_view::npos) return parse_v4(text);
  return parse_v6(text);
}

}  // namespace uet::wire
