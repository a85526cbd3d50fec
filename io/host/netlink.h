// Questions to the kernel over netlink: one request, its answer or answers, and their attributes.
#pragma once

#include "io/socket.h"

#include "base/assert.h"

#include <linux/netlink.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace uet::io {

// A socket that talks to the kernel about one family (NETLINK_ROUTE, ...); errno on failure.
Fd open_netlink(int family);

// One request: netlink header, the fixed part of its family, attributes.
template <typename Fixed>
class Question {
 public:
  Question(uint16_t type, const Fixed& fixed) {
    header().nlmsg_type = type;
    header().nlmsg_flags = NLM_F_REQUEST;
    header().nlmsg_len = NLMSG_LENGTH(sizeof fixed);
    std::memcpy(NLMSG_DATA(&header()), &fixed, sizeof fixed);
  }

  void add(uint16_t type, const void* value, size_t length) {
    const auto at = NLMSG_ALIGN(header().nlmsg_len);
    UET_ASSERT(at + NLA_HDRLEN + NLMSG_ALIGN(length) <= sizeof octets_);
    const nlattr attribute{static_cast<uint16_t>(NLA_HDRLEN + length), type};
    std::memcpy(octets_ + at, &attribute, sizeof attribute);
    std::memcpy(octets_ + at + NLA_HDRLEN, value, length);
    header().nlmsg_len = static_cast<uint32_t>(at + NLA_HDRLEN + NLMSG_ALIGN(length));
  }

  // The answer to this question, whole and of the type expected; empty otherwise.
  std::span<const std::byte> ask(const Fd& netlink, uint32_t sequence, uint16_t answer_type,
                                 std::span<std::byte> room) {
    header().nlmsg_seq = sequence;
    if (::send(netlink.get(), octets_, header().nlmsg_len, 0) < 0) return {};
    // Answers to earlier questions that were given up on may come first.
    for (int i = 0; i < 8; ++i) {
      const ssize_t got = ::recv(netlink.get(), room.data(), room.size(), MSG_DONTWAIT);
      if (got < static_cast<ssize_t>(sizeof(nlmsghdr))) return {};
      nlmsghdr answer;
      std::memcpy(&answer, room.data(), sizeof answer);
      if (answer.nlmsg_seq != sequence) continue;
      const bool fits = answer.nlmsg_len <= static_cast<size_t>(got) &&
                        answer.nlmsg_len >= NLMSG_LENGTH(sizeof(Fixed));
      if (answer.nlmsg_type != answer_type || !fits) return {};
      return room.first(answer.nlmsg_len).subspan(NLMSG_LENGTH(0));
    }
    return {};
  }

  // All entries: calls visit(octets after the netlink header) for each of the expected type.
  // Returns 0, or the errno of the refusal; EINTR when the list changed meanwhile.
  template <typename Visit>
  int ask_all(const Fd& netlink, uint16_t answer_type, const Visit& visit) {
    constexpr size_t kRoom = 32 * 1024;  // as much as the kernel puts into one datagram
    header().nlmsg_flags |= NLM_F_DUMP;
    if (::send(netlink.get(), octets_, header().nlmsg_len, 0) < 0) return errno;
    const std::unique_ptr<std::byte[]> room(new std::byte[kRoom]);
    bool is_torn = false;
    for (;;) {
      const ssize_t got = ::recv(netlink.get(), room.get(), kRoom, MSG_DONTWAIT);
      if (got < 0) return errno;
      std::span<const std::byte> left(room.get(), static_cast<size_t>(got));
      nlmsghdr answer;
      while (left.size() >= sizeof answer) {
        std::memcpy(&answer, left.data(), sizeof answer);
        if (answer.nlmsg_len < sizeof answer || answer.nlmsg_len > left.size()) return EBADMSG;
        const std::span<const std::byte> body = left.first(answer.nlmsg_len).subspan(NLMSG_HDRLEN);
        is_torn = is_torn || (answer.nlmsg_flags & NLM_F_DUMP_INTR) != 0;
        const bool is_end = answer.nlmsg_type == NLMSG_DONE || answer.nlmsg_type == NLMSG_ERROR;
        if (is_end) return is_torn ? EINTR : refusal_in(body);
        if (answer.nlmsg_type == answer_type && body.size() >= sizeof(Fixed)) visit(body);
        left = left.subspan(std::min<size_t>(NLMSG_ALIGN(answer.nlmsg_len), left.size()));
      }
    }
  }

 private:
  nlmsghdr& header() { return *reinterpret_cast<nlmsghdr*>(octets_); }
  // Both an error and the end of a list begin with a negative errno, or 0.
  static int refusal_in(std::span<const std::byte> body) {
    int error = -EBADMSG;
    if (body.size() >= sizeof error) std::memcpy(&error, body.data(), sizeof error);
    return -error;
  }

  alignas(nlmsghdr) std::byte octets_[256] = {};
};

// Calls visit(type, octets) for every attribute behind the fixed part, which is skipped.
template <typename Fixed, typename Visit>
void for_each_attribute(std::span<const std::byte> answer, const Visit& visit) {
  std::span<const std::byte> left = answer.subspan(NLMSG_ALIGN(sizeof(Fixed)));
  while (left.size() >= sizeof(nlattr)) {
    nlattr attribute;
    std::memcpy(&attribute, left.data(), sizeof attribute);
    if (attribute.nla_len < sizeof attribute || attribute.nla_len > left.size()) return;
    visit(static_cast<uint16_t>(attribute.nla_type & NLA_TYPE_MASK),
          left.first(attribute.nla_len).subspan(NLA_HDRLEN));
    const size_t step = NLA_ALIGN(attribute.nla_len);
    left = step < left.size() ? left.subspan(step) : std::span<const std::byte>();
  }
}

}  // namespace uet::io
