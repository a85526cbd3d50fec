// Reads one capture, or those of both ends, and writes the list of PDCs or the drawing of one.
#include "tools/pcap/ladder/command.h"

#include "tools/common/command_line.h"
#include "tools/pcap/ladder/drawing.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>

namespace uet::tools::ladder {

namespace {

constexpr int kGood = 0, kBadInput = 1;
constexpr uint32_t kListed = 1000;  // PDCs in a list for people

struct Options {
  std::vector<std::string> captures;
  uint32_t pdc = 0;
  bool list = false, json = false;
  std::string output;
  std::string keys;
  std::string time = "compact", trailer = "none";
  uint32_t from = 1;
  uint32_t packets = 0;  // 0: by the kind of the output
};

int fail(const std::string& what) {
  std::fprintf(stderr, "uet_pcap: %s\n", what.c_str());
  return kBadInput;
}

struct Input {
  std::vector<Captured> packets;
  std::vector<CapturePoint> points;
};

std::string read_file(const std::string& path, Input& into) {
  std::vector<std::byte> octets;
  std::string problem = read_octets(path, octets);
  if (!problem.empty()) return problem;
  std::vector<Captured> packets = packets_of(octets, problem, &into.points);
  std::move(packets.begin(), packets.end(), std::back_inserter(into.packets));
  // The whole packets are drawn anyway.
  if (!problem.empty() && into.packets.empty()) return path + ": " + problem;
  if (!problem.empty()) {
    std::fprintf(stderr, "uet_pcap: %s: %s; what is before that is shown\n", path.c_str(),
                 problem.c_str());
  }
  return {};
}

// The error in the keys, or nothing.
std::string open_with(const std::string& path, Input& input) {
  std::vector<std::byte> lines;
  if (std::string problem = read_octets(path, lines); !problem.empty()) return problem;
  PacketKeys keys;
  const std::string wrong = keys.take({reinterpret_cast<const char*>(lines.data()), lines.size()});
  if (!wrong.empty()) return path + ":" + wrong;
  if (const uint32_t closed = open_sealed(input.packets, keys); closed > 0) {
    std::fprintf(stderr,
                 "uet_pcap: sealed packets that do not open with %s are left out: %u (uet_pcap "
                 "print --keys shows each)\n",
                 path.c_str(), closed);
  }
  return {};
}

int list_for_people(const std::vector<Conversation>& all) {
  std::printf("%5s  %-5s %-24s %-24s %9s\n", "PDC", "mode", "initiator", "target", "packets");
  for (size_t i = 0; i < all.size() && i < kListed; ++i) {
    const Conversation& c = all[i];
    std::string ends[2];
    for (unsigned end = 0; end < 2; ++end) {
      ends[end] = text_of(c.address[end]) + "/" + std::to_string(c.pdcid[end].value());
    }
    std::printf("%5zu  %-5s %-24s %-24s %9zu\n", i, c.rod ? "ROD" : "RUD", ends[0].c_str(),
                ends[1].c_str(), c.members.size());
  }
  if (all.size() > kListed) {
    std::printf("%u of %zu PDCs are listed; --json lists all\n", kListed, all.size());
  }
  return kGood;
}

std::string list_as_json(const std::vector<Conversation>& all) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (size_t i = 0; i < all.size(); ++i) {
    const Conversation& c = all[i];
    out.push_back({{"pdc", i},
                   {"mode", c.rod ? "ROD" : "RUD"},
                   {"initiator", text_of(c.address[0])},
                   {"initiator_pdcid", c.pdcid[0].value()},
                   {"target", text_of(c.address[1])},
                   {"target_pdcid", c.pdcid[1].value()},
                   {"packets", c.members.size()}});
  }
  return out.dump(1) + "\n";
}

int write(const std::string& path, const std::string& text) {
  const std::string problem = write_octets(path.empty() ? "-" : path, text.data(), text.size());
  return problem.empty() ? kGood : fail(problem);
}

wire::Trailer trailer_of(const std::string& name) {
  if (name == "crc") return wire::Trailer::crc;
  return name == "tss" ? wire::Trailer::tss : wire::Trailer::none;
}

// Names without their folders: a page is shown to others.
std::string capture_names(const std::vector<std::string>& paths) {
  std::string out;
  for (const std::string& path : paths) {
    out += out.empty() ? "" : " and ";
    out += path == "-" ? "standard input" : std::filesystem::path(path).filename().string();
  }
  return out;
}

enum class Form : uint8_t {
  none,
  svg,
  page,
  json
};

Form form_of(const Options& options) {
  if (options.json) return Form::json;
  const auto ends_in = [&](const char* end) { return options.output.ends_with(end); };
  if (ends_in(".svg")) return Form::svg;
  return ends_in(".html") || ends_in(".htm") ? Form::page : Form::none;
}

// How many packets a drawing takes before it is cut, unless --packets says otherwise.
uint32_t limit_of(const Options& options, Form form) {
  constexpr uint32_t kSvg = 250, kPage = 100000;
  if (options.packets != 0) return options.packets;
  if (form == Form::svg) return kSvg;
  return form == Form::page ? kPage : UINT32_MAX;
}

int draw(const Options& options, Form form, const Input& input,
         const std::vector<Conversation>& all) {
  const wire::Trailer trailer = trailer_of(options.trailer);
  const Ladder ladder = ladder_of(input.packets, all[options.pdc], options.pdc, trailer);
  const auto total = static_cast<uint32_t>(ladder.rungs.size());
  if (options.from > total) {
    return fail("--from " + std::to_string(options.from) + ": the PDC has " +
                std::to_string(total) + " packets");
  }
  Drawing drawing;
  drawing.ladder = &ladder;
  drawing.capture = capture_names(options.captures);
  drawing.points = input.points;
  drawing.first = options.from - 1;
  drawing.count = std::min(total - drawing.first, limit_of(options, form));
  drawing.axis = options.time == "compact" ? TimeAxis::compact : TimeAxis::proportional;
  drawing.trailer = trailer;
  if (drawing.is_cut()) {
    std::fprintf(stderr, "uet_pcap: %s --from and --packets choose.\n", cut_text(drawing).c_str());
  }
  switch (form) {
    case Form::svg:
      return write(options.output, svg_of(drawing));
    case Form::page:
      return write(options.output, page_of(drawing));
    case Form::json:
    case Form::none:
      return write(options.output, json_of(drawing));
  }
  return kGood;
}

int run(const CLI::App& app, const Options& options) {
  const Form form = form_of(options);
  if (form == Form::none && !options.list) {
    return misuse(app, options.output.empty() ? "where to? -o FILE.svg, -o FILE.html or --json"
                                              : options.output + " ends in neither .svg nor .html");
  }
  Input input;
  for (const std::string& path : options.captures) {
    if (std::string problem = read_file(path, input); !problem.empty()) return fail(problem);
  }
  if (!options.keys.empty()) {
    if (std::string problem = open_with(options.keys, input); !problem.empty()) {
      return fail(problem);
    }
  }
  std::stable_sort(input.packets.begin(), input.packets.end(),
                   [](const Captured& a, const Captured& b) { return a.time_ns < b.time_ns; });
  const std::vector<Conversation> all =
      conversations_of(input.packets, trailer_of(options.trailer));
  if (options.list) {
    return options.json ? write(options.output, list_as_json(all)) : list_for_people(all);
  }
  if (all.empty()) return fail("no packet of a PDC in " + capture_names(options.captures));
  if (options.pdc >= all.size()) {
    return fail("no PDC " + std::to_string(options.pdc) + ": there are " +
                std::to_string(all.size()) + ", from 0; --list shows them");
  }
  return draw(options, form, input, all);
}

}  // namespace

std::function<int()> add_command(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("ladder", "Draw the packets of a PDC as a sequence diagram");
  command
      ->add_option("CAPTURE", options->captures,
                   "pcap or pcapng, - for standard input; a second one of the other end")
      ->required()
      ->expected(1, 2);
  command->add_option("--pdc", options->pdc,
                      "Number of the PDC, from 0 in the order of the capture (default 0)");
  command->add_flag("--list", options->list, "List the PDCs of the capture");
  command->add_option("-o,--output", options->output, "FILE.svg or FILE.html; for --json any");
  command->add_flag("--json", options->json, "Print JSON instead of a drawing or a table");
  command->add_option("--time", options->time, "Time axis: one line for each event, or to scale")
      ->check(CLI::IsMember({"compact", "proportional"}))
      ->capture_default_str();
  command->add_option("--from", options->from, "First packet of the PDC to draw")
      ->check(CLI::Range(1U, UINT32_MAX));
  command
      ->add_option("--packets", options->packets,
                   "How many packets to draw (default: 250 as SVG, 100000 as HTML)")
      ->check(CLI::Range(1U, UINT32_MAX));
  command
      ->add_option("--trailer", options->trailer,
                   "Trailer of the packets: none, crc or tss (an ICV)")
      ->check(CLI::IsMember({"none", "crc", "tss"}));
  command->add_option("--keys", options->keys,
                      "File of uet_keys lines, or a key log: open the sealed packets");
  return [options, &app] { return run(app, *options); };
}

}  // namespace uet::tools::ladder
