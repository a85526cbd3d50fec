// Lines in packets of a socket pair.
#include "tools/stress/link.h"

#include <sys/socket.h>

#include <cerrno>

namespace uet::stress {

bool Link::tell(const std::string& line) const {
  return send(fd_, line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size());
}

std::optional<std::string> Link::hear() const {
  char line[8192];
  const ssize_t got = recv(fd_, line, sizeof line, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  return std::string(line, got > 0 ? static_cast<size_t>(got) : 0);
}

std::string to_hex(const std::string& octets) {
  static const char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : octets) {
    const auto octet = static_cast<uint8_t>(c);
    text += kDigits[octet >> 4];
    text += kDigits[octet & 15];
  }
  return text;
}

std::string from_hex(const std::string& text) {
  std::string octets;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    octets += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  }
  return octets;
}

}  // namespace uet::stress
