// Speed of plain UDP sockets with GSO and GRO on this machine: the upper bound for the provider.
// Whole messages go back and forth as in fi_pingpong, or in a stream; both sides busy-poll. Each
// segment carries 4096 octets and a header of 64, as a UET packet does. Not a protocol: a lost
// segment is sent again after a while and reported.
#include "bench/raw/raw_peer.h"
#include "tools/common/command_line.h"

#include <arpa/inet.h>
#include <netinet/udp.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
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

struct Options {
  std::string role;
  bool json = false;
  bool gso = true;
  bool is_stream = false;
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

// Waits until the server is ready for a run; false when it does not answer.
bool begin(Peer& peer, uint32_t run, const Peer::Shape& shape) {
  peer.begin_run(run, shape);
  const Instant begun = monotonic_now();
  for (Instant asked; !peer.ready();) {
    const Instant now = monotonic_now();
    if (now - begun > kGiveUp) return false;
    if (asked == Instant() || now - asked > Duration::milliseconds(50)) {
      asked = now;
      peer.send_hello();
    }
    peer.poll();
  }
  return true;
}

// The client's part of one size, messages back and forth; false when the server does not answer.
bool measure(Peer& peer, uint32_t run, uint32_t size, uint32_t iterations, Row& row) {
  if (!begin(peer, run, {size, size, size})) return false;
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

// The same for a stream: messages in a row as parts of a few long ones, which get a short answer.
bool measure_stream(Peer& peer, uint32_t run, uint32_t size, uint32_t iterations, Row& row) {
  const uint32_t at_once = std::min(iterations, kMessageMax / size);
  if (!begin(peer, run, {at_once * size, 1, size})) return false;
  const uint32_t resent = peer.resent();
  const uint32_t repeats = (iterations + at_once - 1) / at_once;
  const Instant start = monotonic_now();
  for (uint32_t i = 0; i < repeats; ++i) {
    peer.send_message();
    if (!peer.receive_message()) return false;
  }
  const double us = static_cast<double>((monotonic_now() - start).ns()) / 1e3 / repeats / at_once;
  row = {size, us, size / us, peer.resent() - resent};
  return true;
}

bool run_client(Peer& peer, const Options& options) {
  std::vector<Row> rows;
  uint32_t run =
      static_cast<uint32_t>(monotonic_now().ns() / 1000) | 1;  // not that of a past client
  for (const uint32_t size : options.sizes) {
    Row row{};
    const auto measured = options.is_stream ? measure_stream : measure;
    if (!measured(peer, ++run, size, options.iterations, row)) {
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

bool is_possible(const Header& offer) {
  const uint32_t longest = std::max(offer.size, offer.answer);
  if (offer.size == 0 || offer.answer == 0 || longest > kMessageMax) return false;
  return offer.buffer >= longest || (offer.buffer > 0 && offer.buffer % kPayload == 0);
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
    if (!is_possible(offer)) continue;
    if (offer.run != peer.run())
      peer.begin_run(offer.run, {offer.answer, offer.size, offer.buffer});
    peer.send_control(Kind::hello);
    while (peer.receive_message()) peer.send_message();
    heard = monotonic_now();
  }
  return true;
}

bool read_address(const Options& o, FabricAddress& out) {
  out.port = o.port;
  out.family = FabricAddress::Family::ipv4;
  if (::inet_pton(AF_INET, o.address.c_str(), out.ip.data()) == 1) return true;
  out.family = FabricAddress::Family::ipv6;
  return ::inet_pton(AF_INET6, o.address.c_str(), out.ip.data()) == 1;
}

constexpr const char* kAbout =
    "Sends messages back and forth over one UDP socket on each side, with GSO, GRO and busy\n"
    "polling, and prints half the mean round trip (us) and the bandwidth of one direction (MB/s,\n"
    "10^6 octets) for each size; resent counts segments that this side had to send again. With\n"
    "--stream the client sends and the server receives: us is the time of a message in a row.\n"
    "Start the server first. It serves one client and ends with it, or after a minute without "
    "one.\n"
    "Exit status: 0 when all sizes were measured, 1 when not, 2 wrong usage.";

void add_options(CLI::App& app, Options& options) {
  app.add_option("ROLE", options.role, "Which end this is")
      ->required()
      ->check(CLI::IsMember({"server", "client"}));
  app.add_option("ADDRESS", options.address, "Of the server, IPv4 or IPv6")->required();
  app.add_option("--sizes", options.sizes, "Message sizes in octets; client")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1U, kMessageMax))
      ->capture_default_str();
  app.add_option("--iterations", options.iterations,
                 "Round trips for each size, after a tenth as warm-up; client")
      ->check(CLI::Range(1U, 1'000'000'000U))
      ->capture_default_str();
  app.add_option("--port", options.port, "UDP port of the server")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  app.add_flag("--stream", options.is_stream,
               "A row of messages in one direction, multiples of 4096 octets; client");
  app.add_flag("--json", options.json, "Print one JSON object instead of a table; client");
  app.add_flag("!--no-gso", options.gso,
               "One segment for each system call, to see what GSO is worth");
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{kAbout, "raw_pingpong"};
  add_options(app, options);
  if (const auto status = uet::tools::parse(app, argc, argv)) return *status;
  FabricAddress address;
  if (!read_address(options, address)) {
    return uet::tools::misuse(app, "ADDRESS: " + options.address + " is neither IPv4 nor IPv6");
  }
  const bool is_server = options.role == "server";
  for (const uint32_t size : options.sizes) {
    if (options.is_stream && size % kPayload != 0) {
      return uet::tools::misuse(app, "--stream: --sizes must be multiples of 4096");
    }
  }
  Fd socket = uet::io::open_udp_socket(address);
  SockAddr name;
  const socklen_t length = uet::io::to_sockaddr(address, name);
  if (!socket || (is_server && ::bind(socket.get(), &name.any, length) != 0)) {
    std::fprintf(stderr, "raw_pingpong: cannot open %s port %u: %s\n", options.address.c_str(),
                 unsigned{options.port}, uet::io::errno_text(errno).c_str());
    return 1;
  }
  // Granted as far as the system allows; the window follows the granted size.
  (void)uet::io::set_option(socket, SOL_SOCKET, SO_RCVBUF, 4 << 20);
  (void)uet::io::set_option(socket, SOL_SOCKET, SO_SNDBUF, 4 << 20);
  (void)uet::io::set_option(socket, IPPROTO_UDP, UDP_GRO, 1);

  Peer peer(std::move(socket), options.gso, is_server);
  if (is_server) return run_server(peer) ? 0 : 1;
  peer.connect(address);
  return run_client(peer, options) ? 0 : 1;
}
