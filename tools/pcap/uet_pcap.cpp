// uet_pcap: captures from text, text and diagrams from captures. docs/howto/uet_pcap.md is its
// manual.
#include "tools/common/command_line.h"
#include "tools/pcap/ladder/command.h"
#include "tools/pcap/packet_language.h"
#include "tools/pcap/packet_seal.h"
#include "tools/pcap/packet_unseal.h"
#include "tools/pcap/pcap_file.h"

#include "wire/print.h"

#include <cinttypes>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace {

using uet::tools::Captured;

// Exit status.
constexpr int kGood = 0;
constexpr int kFailed = 1;

struct Options {
  std::string input = "-";
  std::string output;
  std::string trailer = "none";
  std::string keys;
  std::optional<uint32_t> sdi;
};

int fail(const std::string& what) {
  std::fprintf(stderr, "uet_pcap: %s\n", what.c_str());
  return kFailed;
}

// Passes the lines of the key file, if there is one, to take(text). Returns the error.
template <class Take>
std::string read_keys(const Options& options, Take&& take) {
  std::vector<std::byte> octets;
  if (options.keys.empty()) return {};
  std::string problem = uet::tools::read_octets(options.keys, octets);
  if (!problem.empty()) return problem;
  problem = take({reinterpret_cast<const char*>(octets.data()), octets.size()});
  return problem.empty() ? problem : options.keys + ":" + problem;
}

int make(const Options& options) {
  uet::tools::Sealer sealer;
  sealer.sdi_of_all = options.sdi;
  const std::string wrong =
      read_keys(options, [&](std::string_view lines) { return sealer.take_keys(lines); });
  if (!wrong.empty()) return fail(wrong);
  std::vector<std::byte> octets;
  if (const std::string problem = uet::tools::read_octets(options.input, octets);
      !problem.empty()) {
    return fail(problem);
  }
  const std::string text(reinterpret_cast<const char*>(octets.data()), octets.size());
  uet::tools::Text taken;
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    ++number;
    const std::string problem = taken.take(uet::tools::parse_line(
        std::string_view(text).substr(at, end - at), options.keys.empty() ? nullptr : &sealer));
    if (!problem.empty()) {
      return fail(options.input + ":" + std::to_string(number) + ": " + problem);
    }
    at = end + 1;
  }
  if (taken.points.empty()) taken.points.push_back({"", "made from " + options.input});
  const std::vector<std::byte> file = uet::tools::pcapng_of(taken.packets, taken.points);
  const std::string problem = uet::tools::write_octets(options.output, file.data(), file.size());
  return problem.empty() ? kGood : fail(problem);
}

// The text for a sealed packet that stays closed although there are keys.
const char* why_closed(uet::tools::Opening opening) {
  switch (opening) {
    case uet::tools::Opening::no_key:
      return " | no key";
    case uet::tools::Opening::refused:
      return " | wrong ICV or key";
    case uet::tools::Opening::not_sealed:
    case uet::tools::Opening::opened:
      return "";
  }
  return "";
}

int print_file(const Options& options) {
  uet::tools::PacketKeys keys;
  const std::string wrong =
      read_keys(options, [&](std::string_view lines) { return keys.take(lines); });
  if (!wrong.empty()) return fail(wrong);
  std::vector<std::byte> octets;
  if (const std::string problem = uet::tools::read_octets(options.input, octets);
      !problem.empty()) {
    return fail(problem);
  }
  std::string problem;
  std::vector<uet::tools::CapturePoint> points;
  const std::vector<Captured> packets = uet::tools::packets_of(octets, problem, &points);
  uint64_t number = 0;
  for (const Captured& captured : packets) {
    uet::wire::DecodeOptions how;
    how.start = captured.link_type == uet::tools::kLinkRawIp ? uet::wire::Start::ip
                                                             : uet::wire::Start::ethernet;
    how.udp_port = 0;
    if (options.trailer == "crc") how.trailer = uet::wire::Trailer::crc;
    if (options.trailer == "tss") how.trailer = uet::wire::Trailer::tss;
    auto packet = uet::wire::decode(captured.octets, how);
    std::vector<std::byte> content;
    const char* closed = "";
    if (!options.keys.empty()) {
      closed = why_closed(uet::tools::unseal_headers(keys, packet, content));
    }
    char text[1024];
    uet::wire::print(text, packet);
    const std::string of = points.size() > 1 ? points[captured.point].name + " " : "";
    std::printf(
        "%" PRIu64 " %.9f %s%s%s\n", ++number,
        static_cast<double>(static_cast<int64_t>(captured.time_ns - packets.front().time_ns)) / 1e9,
        of.c_str(), text, closed);
  }
  return problem.empty() ? kGood : fail(options.input + ": " + problem);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Makes captures of UET packets from text, and prints and draws captures.\n"
      "Exit status: 0 all done, 1 an error in the input or the output, 2 wrong usage.",
      "uet_pcap"};
  Options options;
  CLI::App* maker = app.add_subcommand("make", "Write a pcapng file from lines of text");
  maker->add_option("TEXT", options.input, "One line for each packet; - for standard input")
      ->required();
  maker->add_option("PCAPNG", options.output, "The file to write; - for standard output")
      ->required();
  auto* keys = maker->add_option("--keys", options.keys,
                                 "File of uet_keys lines: seal the packets with sdi=N");
  maker->add_option("--sdi", options.sdi, "Seal all packets with a key of this secure domain")
      ->needs(keys);
  CLI::App* printer = app.add_subcommand("print", "Print a line for each packet of a capture");
  printer->add_option("CAPTURE", options.input, "pcap or pcapng; - for standard input")->required();
  printer
      ->add_option("--trailer", options.trailer,
                   "Trailer of the packets: none, crc or tss (an ICV)")
      ->check(CLI::IsMember({"none", "crc", "tss"}));
  printer->add_option("--keys", options.keys,
                      "File of uet_keys lines, or a key log: open the sealed packets");
  const std::function<int()> ladder = uet::tools::ladder::add_command(app);
  if (const auto status = uet::tools::parse(app, argc, argv, uet::tools::Commands::required)) {
    return *status;
  }
  const int status = app.got_subcommand("ladder") ? ladder()
                     : maker->parsed()            ? make(options)
                                                  : print_file(options);
  return uet::tools::ended(app, status, kFailed);
}
