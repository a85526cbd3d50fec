// What plain UDP sockets with GSO and GRO do on this machine: the ceiling that the provider is
// compared with. Whole messages go back and forth as in fi_pingpong; both sides busy-poll. Each
// segment carries 4096 octets and a header of 64, as a UET packet does. Not a protocol: a lost
// segment is sent again after a while and reported.
#include "tools/raw_peer.h"

#include <arpa/inet.h>
#include <netinet/udp.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

namespace {

using uet::Duration;
using uet::FabricAddress;
using uet::Instant;
using uet::io::Fd;
using uet::io::monotonic_now;
using uet::io::SockAddr;
using namespace uet::raw;

constexpr const char* kHelp = R"(Usage: raw_pingpong [options] server ADDRESS
       raw_pingpong [options] client ADDRESS

Sends messages back and forth over one UDP socket on each side, with GSO, GRO and busy polling, and
prints half the round trip and the bandwidth for each size. ADDRESS is the server's, IPv4 or IPv6;
start the server first. It serves one client and ends with it, or after a minute without one.

  --sizes LIST      message sizes in octets, 1 to 2^30 (default 8,64,4096,65536,1048576); client
  --iterations N    round trips for each size, after a tenth as warm-up (default 1000); client
  --port N          UDP port of the server (default 47593)
  --json            print one JSON object instead of a table; client
  --no-gso          one segment for each system call, to see what GSO is worth
  -h, --help        this text

us is half the mean round trip; MB/s is octets of one direction in 10^6 per second; resent counts
segments that had to be sent again by this side. Exit status 0 when all sizes were measured.
)";

struct Options {
  bool server = false;
  bool json = false;
  bool gso = true;
  std::string address;
  uint16_t port = 47593;
  uint32_t iterations = 1000;
  std::vector<uint32_t> sizes{8, 64, 4096, 65536, 1048576};
};

struct Row {
  uint32_t size;
  double us;
  double mb_s;
  uint32_t resent;
};

// The client's part of one size; false when the server does not answer.
bool measure(Peer& peer, uint32_t run, uint32_t size, uint32_t iterations, Row& row) {
  peer.begin_run(run, size);
  const Instant begun = monotonic_now();
  for (Instant asked; !peer.ready();) {
    const Instant now = monotonic_now();
    if (now - begun > kGiveUp) return false;
    if (asked == Instant() || now - asked > Duration::milliseconds(50)) {
      asked = now;
      peer.send_control(Kind::hello);
    }
    peer.poll();
  }
  const uint32_t warm_up = iterations / 10 + 1;
  const uint32_t resent = peer.resent();
  Instant start;
  for (uint32_t i = 0; i < warm_up + iterations; ++i) {
    if (i == warm_up) start = monotonic_now();
    peer.send_message();
    if (!peer.receive_message()) return false;
  }
  const double us = static_cast<double>((monotonic_now() - start).ns()) / 1e3 / iterations / 2;
  row = {size, us, size / us, peer.resent() - resent};
  return true;
}

bool run_client(Peer& peer, const Options& options) {
  std::vector<Row> rows;
  uint32_t run =
      static_cast<uint32_t>(monotonic_now().ns() / 1000) | 1;  // not that of a past client
  for (const uint32_t size : options.sizes) {
    Row row{};
    if (!measure(peer, ++run, size, options.iterations, row)) {
      std::fprintf(stderr, "raw_pingpong: no answer from %s\n", options.address.c_str());
      return false;
    }
    rows.push_back(row);
  }
  for (int i = 0; i < 3; ++i) peer.send_control(Kind::bye);

  if (!options.json) {
    std::printf("%10s %12s %12s %12s %10s\n", "bytes", "us", "MB/s", "iterations", "resent");
  }
  if (options.json) {
    std::printf("{\"tool\": \"raw_pingpong\", \"segment_bytes\": %u, \"gso\": %s, \"sizes\": [",
                kPayload + kHeader, options.gso ? "true" : "false");
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& r = rows[i];
    const char* const format =
        options.json ? "%s{\"size\": %u, \"us\": %.3f, \"mb_s\": %.2f, \"iterations\": %u, "
                       "\"resent\": %u}"
                     : "%s%10u %12.3f %12.2f %12u %10u\n";
    const char* const before = options.json && i > 0 ? ", " : "";
    std::printf(format, before, r.size, r.us, r.mb_s, options.iterations, r.resent);
  }
  if (options.json) std::printf("]}\n");
  return true;
}

// Answers run after run until the client says bye or nothing was heard for a minute.
bool run_server(Peer& peer) {
  Instant heard = monotonic_now();
  while (!peer.bye()) {
    const bool any = peer.poll();
    const Instant now = monotonic_now();
    if (any) heard = now;
    if (now - heard > kGiveUp) return false;
    if (!peer.take_offer()) continue;
    const Header offer = peer.offer();
    if (offer.size == 0 || offer.size > kMessageMax) continue;
    if (offer.run != peer.run()) peer.begin_run(offer.run, offer.size);
    peer.send_control(Kind::hello);
    while (peer.receive_message()) peer.send_message();
    heard = monotonic_now();
  }
  return true;
}

bool read_number(std::string_view text, uint64_t low, uint64_t high, uint64_t& out) {
  const char* const end = text.data() + text.size();
  const auto [at, ec] = std::from_chars(text.data(), end, out);
  return ec == std::errc() && at == end && out >= low && out <= high;
}

bool read_sizes(std::string_view text, std::vector<uint32_t>& out) {
  out.clear();
  while (!text.empty()) {
    const size_t comma = text.find(',');
    uint64_t size = 0;
    if (!read_number(text.substr(0, comma), 1, kMessageMax, size)) return false;
    out.push_back(static_cast<uint32_t>(size));
    text = comma == text.npos ? std::string_view{} : text.substr(comma + 1);
  }
  return !out.empty();
}

bool read_options(int argc, char** argv, Options& o) {
  std::vector<std::string_view> words;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::string_view value = i + 1 < argc ? argv[i + 1] : "";
    uint64_t number = 0;
    if (word == "--json") {
      o.json = true;
    } else if (word == "--no-gso") {
      o.gso = false;
    } else if (word == "--sizes") {
      if (!read_sizes(value, o.sizes)) return false;
      ++i;
    } else if (word == "--iterations") {
      if (!read_number(value, 1, 1'000'000'000, number)) return false;
      o.iterations = static_cast<uint32_t>(number);
      ++i;
    } else if (word == "--port") {
      if (!read_number(value, 1, 65535, number)) return false;
      o.port = static_cast<uint16_t>(number);
      ++i;
    } else {
      words.push_back(word);
    }
  }
  if (words.size() != 2 || (words[0] != "server" && words[0] != "client")) return false;
  o.server = words[0] == "server";
  o.address = words[1];
  return true;
}

bool read_address(const Options& o, FabricAddress& out) {
  out.port = o.port;
  out.family = FabricAddress::Family::ipv4;
  if (::inet_pton(AF_INET, o.address.c_str(), out.ip.data()) == 1) return true;
  out.family = FabricAddress::Family::ipv6;
  return ::inet_pton(AF_INET6, o.address.c_str(), out.ip.data()) == 1;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--help" || std::string_view(argv[i]) == "-h") {
      std::fputs(kHelp, stdout);
      return 0;
    }
  }
  Options options;
  FabricAddress address;
  if (!read_options(argc, argv, options) || !read_address(options, address)) {
    std::fputs(kHelp, stderr);
    return 2;
  }
  Fd socket = uet::io::open_udp_socket(address);
  SockAddr name;
  const socklen_t length = uet::io::to_sockaddr(address, name);
  if (!socket || (options.server && ::bind(socket.get(), &name.any, length) != 0)) {
    std::fprintf(stderr, "raw_pingpong: cannot open %s port %u: %s\n", options.address.c_str(),
                 unsigned{options.port}, uet::io::errno_text(errno).c_str());
    return 1;
  }
  // Granted as far as the system allows; the window follows what was granted.
  (void)uet::io::set_option(socket, SOL_SOCKET, SO_RCVBUF, 4 << 20);
  (void)uet::io::set_option(socket, SOL_SOCKET, SO_SNDBUF, 4 << 20);
  (void)uet::io::set_option(socket, IPPROTO_UDP, UDP_GRO, 1);

  Peer peer(std::move(socket), options.gso, options.server);
  if (options.server) return run_server(peer) ? 0 : 1;
  peer.connect(address);
  return run_client(peer, options) ? 0 : 1;
}
