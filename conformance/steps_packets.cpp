// Packets that a case sends, and those that it expects. Arrivals that were not expected yet wait in
// a queue; an expectation looks at that first, and then lets time pass.
#include "conformance/steps.h"
#include "tools/pcap/packet_language.h"

#include <algorithm>

namespace uet::conformance {

namespace {

// The words of a line that expects: a time, "next", a peer, and the rest.
struct Expectation {
  Duration time = kPatience;
  bool is_next = false;
  const FabricAddress* peer = nullptr;
  PacketPattern pattern;
};

constexpr uint16_t kSourcePort = 49152;  // of peers that receive on the standard port

// An option of a packet that a peer sends. Returns the error, or nothing.
std::string take_option(std::string_view word, const Variables& variables, Datagram& d,
                        uint64_t& cut) {
  const size_t equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  const std::string_view text =
      equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
  if (const auto ago = duration_of(text); key == "ago" && ago) {
    d.arrived_ago = *ago;
    return {};
  }
  std::string problem;
  const auto value = variables.evaluate(text, problem);
  const auto is = [&](std::string_view name, uint64_t max) {
    return key == name && value && *value <= max;
  };
  if (is("ev", 0xFFFF) || is("port", 0xFFFF)) {
    d.ev = static_cast<uint16_t>(*value);
  } else if (is("dscp", 63)) {
    d.dscp = static_cast<uint8_t>(*value);
  } else if (is("ecn", 3)) {
    d.ecn = static_cast<Ecn>(*value);
  } else if (is("sdi", 0xFFFFFF)) {
    d.sdi = static_cast<uint32_t>(*value);
  } else if (is("cut", 0xFFFF)) {
    cut = *value;
  } else {
    return std::string(word) + ": no option of a packet, or no value of it";
  }
  return {};
}

}  // namespace

Ended Runner::inject(const Line& line) {
  const FabricAddress* const peer = line.words.size() < 2 ? nullptr : find_peer(line.words[1]);
  if (peer == nullptr || !line.has_bar) return Ended::broken("inject PEER OPTION... | HEADER...");
  Datagram d;
  d.peer = *peer;
  d.ev = peer->port == kUetPort ? kSourcePort : peer->port;
  uint64_t cut = 0;
  for (const std::string_view word : Words(line.words).subspan(2)) {
    if (std::string problem = take_option(word, variables_, d, cut); !problem.empty()) {
      return Ended::broken(problem);
    }
  }
  std::string problem;
  const std::string headers = with_values(line.behind, variables_, problem);
  if (problem.empty()) problem = tools::take_content(headers, d.octets);
  if (!problem.empty()) return Ended::broken(problem);
  d.octets.resize(d.octets.size() - std::min<size_t>(cut, d.octets.size()));
  arrivals_.wait(host_.now());  // earlier traffic of the host
  arrivals_.note(arrivals_.peer_name(d.peer) + " > host" + describe(d));
  host_.send(d);
  arrivals_.wait(host_.now());
  return {};
}

Ended Runner::expect(const Line& line) {
  if (line.words.size() > 1 && line.words[1] == "none") return expect_none(line);
  if (line.words.size() < 2 || !line.has_bar) {
    return Ended::broken("expect PEER [next] [within TIME] OPTION... | HEADER...");
  }
  Expectation e;
  e.peer = find_peer(line.words[1]);
  if (e.peer == nullptr) return Ended::broken("no peer " + std::string(line.words[1]));
  for (size_t i = 2; i < line.words.size(); ++i) {
    const std::string_view word = line.words[i];
    if (word == "next") {
      e.is_next = true;
    } else if (word == "within" && i + 1 < line.words.size()) {
      const auto time = duration_of(line.words[++i]);
      if (!time) return Ended::broken(std::string(line.words[i]) + ": no time");
      e.time = *time;
    } else if (!e.pattern.take_option(word)) {
      return Ended::broken(std::string(word) + ": no option of an expected packet");
    }
  }
  std::string problem = e.pattern.take_headers(line.behind);
  if (!problem.empty()) return Ended::broken(problem);
  const auto& packets = arrivals_.packets();
  const Instant until = host_.now() + e.time;
  size_t looked_at = 0;
  for (arrivals_.wait(host_.now());; arrivals_.wait(until)) {
    for (; looked_at < packets.size(); ++looked_at) {
      if (packets[looked_at].peer != *e.peer) continue;
      const std::string why = e.pattern.mismatch(packets[looked_at], variables_, problem);
      if (!problem.empty()) return Ended::broken(problem);
      if (why.empty()) {
        arrivals_.take_packet(looked_at);
        return {};
      }
      if (e.is_next)
        return Ended::failed("another packet came\n" + packets_text(e.pattern, e.peer));
    }
    if (host_.now() >= until) break;
  }
  return Ended::failed("no such packet within " + duration_text(e.time) + "\n" +
                       packets_text(e.pattern, e.peer));
}

Ended Runner::expect_none(const Line& line) {
  Expectation e;
  e.time = Duration::zero();
  for (size_t i = 2; i < line.words.size(); ++i) {
    const std::string_view word = line.words[i];
    if (word == "for" && i + 1 < line.words.size()) {
      const auto time = duration_of(line.words[++i]);
      if (!time) return Ended::broken(std::string(line.words[i]) + ": no time");
      e.time = *time;
    } else if (const FabricAddress* const peer = find_peer(word); peer != nullptr) {
      e.peer = peer;
    } else if (!e.pattern.take_option(word)) {
      return Ended::broken(std::string(word) + ": no option of a packet");
    }
  }
  if (line.has_bar) {
    if (auto problem = e.pattern.take_headers(line.behind); !problem.empty()) {
      return Ended::broken(problem);
    }
  }
  arrivals_.pass(host_.now() + e.time);
  for (const Datagram& d : arrivals_.packets()) {
    if (e.peer != nullptr && d.peer != *e.peer) continue;
    std::string problem;
    Variables unchanged = variables_;
    const std::string why = e.pattern.mismatch(d, unchanged, problem);
    if (!problem.empty()) return Ended::broken(problem);
    if (why.empty())
      return Ended::failed("a packet came: host > " + arrivals_.peer_name(d.peer) + describe(d));
  }
  return {};
}

std::string Runner::packets_text(const PacketPattern& pattern, const FabricAddress* peer) {
  std::string text;
  size_t count = 0;
  for (const Datagram& d : arrivals_.packets()) {
    if (d.peer != *peer) continue;
    if (++count > kShown) continue;
    std::string problem;
    Variables unchanged = variables_;
    text += "  came:" + describe(d) + "\n    but " + pattern.mismatch(d, unchanged, problem) + "\n";
  }
  if (count > kShown) text += "  and " + std::to_string(count - kShown) + " more\n";
  return count == 0 ? "  no packet waited that no step had expected\n" : text;
}

}  // namespace uet::conformance
