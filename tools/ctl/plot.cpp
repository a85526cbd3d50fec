// Converts lines of numbers to the data of the page's scripts. The file is read twice: for its
// length, and for as many of its samples as a page can hold.
#include "tools/ctl/plot.h"

#include "tools/ctl/command.h"
#include "tools/ctl/page/parts.h"
#include "tools/ctl/recording.h"
#include "tools/page/page.h"

#include "io/socket.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>

namespace uet::tools {
namespace {

constexpr uint64_t kRowsOfPage = 200'000;  // some 15 MB
constexpr uint64_t kMostContexts = 100'000;

struct PlotError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct SampleRow {
  uint64_t context = 0;
  Numbers numbers{};
};

struct Visitor {
  std::function<void(const json& names)> context;
  std::function<void(int64_t at_us, const std::vector<SampleRow>& rows)> sample;
};

struct Facts {
  int64_t began_unix_ms = 0;
  int64_t interval_ms = 0;
  uint64_t samples = 0;
  uint64_t rows = 0;
  uint64_t contexts = 0;
  uint64_t left_out = 0;
  std::string end;  // empty: it was cut off
};

std::vector<SampleRow> rows_of(const json& sample, uint64_t contexts) {
  std::vector<SampleRow> out;
  for (const json& row : sample.value("rows", json::array())) {
    const bool is_row =
        row.is_array() && row.size() == kColumns.size() + 1 && row[0].is_number_unsigned();
    if (!is_row || row[0].get<uint64_t>() >= contexts)
      throw PlotError("a row that names no context");
    SampleRow made;
    made.context = row[0].get<uint64_t>();
    for (size_t i = 0; i < kColumns.size(); ++i) {
      if (!row[i + 1].is_number_integer()) throw PlotError("a row with a fraction or a text");
      made.numbers[i] = row[i + 1].get<int64_t>();
    }
    out.push_back(made);
  }
  return out;
}

void read_head(const json& line, Facts& facts) {
  json columns = {"path"};
  for (const char* name : kColumns) columns.push_back(name);
  if (!line.contains(kRecordMark)) throw PlotError("this is not a recording of uet_ctl record");
  if (line[kRecordMark] != kRecordVersion || line.value("columns", json()) != columns) {
    throw PlotError("a recording of another version of uet_ctl");
  }
  facts.began_unix_ms = signed_number(line, "began_unix_ms");
  facts.interval_ms = signed_number(line, "interval_ms");
}

void read_line(const json& line, Facts& facts, const Visitor& visitor) {
  if (line.contains("path")) {
    if (number(line, "path") != facts.contexts || facts.contexts >= kMostContexts) {
      throw PlotError("a context out of turn");
    }
    ++facts.contexts;
    visitor.context(line);
  } else if (line.contains("rows")) {
    const std::vector<SampleRow> rows = rows_of(line, facts.contexts);
    visitor.sample(signed_number(line, "t_us"), rows);
    ++facts.samples;
    facts.rows += rows.size();
  } else if (line.contains("end")) {
    facts.end = word(line, "end");
    facts.left_out = number(line, "left_out");
  } else {
    throw PlotError("a line that is neither context nor sample");
  }
}

// The last line may be cut off: the program was killed, or writes it just now.
Facts read(const std::string& name, const Visitor& visitor) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(name, error)) {
    throw PlotError(name + ": " + (error ? error.message() : "is not a file"));
  }
  std::ifstream in(name, std::ios::binary);
  if (!in) throw PlotError(name + ": " + io::errno_text(errno));
  Facts facts;
  uint64_t lines = 0;
  for (std::string text; std::getline(in, text);) {
    ++lines;
    const json line = json::parse(text, nullptr, false);
    if (!line.is_object() && in.eof() && lines > 1) break;
    try {
      if (lines == 1) {
        read_head(line.is_object() ? line : json::object(), facts);
      } else if (!line.is_object()) {
        throw PlotError("is not a JSON object");
      } else {
        read_line(line, facts, visitor);
      }
    } catch (const PlotError& problem) {
      throw PlotError(name + ":" + std::to_string(lines) + ": " + problem.what());
    } catch (const json::exception&) {
      throw PlotError(name + ":" + std::to_string(lines) + ": a member of the wrong kind");
    }
  }
  if (lines == 0) throw PlotError(name + ": this is not a recording of uet_ctl record");
  return facts;
}

// One context of the page. Between samples in which it is missing its curves have a gap.
class Series {
 public:
  explicit Series(json names) : names_(std::move(names)) { names_.erase("path"); }

  void add(uint64_t sample, int64_t at_us, const Numbers& n) {
    if (!out_.empty() && sample != last_sample_ + 1) {
      for (auto& [name, values] : out_.items()) {
        values.push_back(name == "t" ? json(static_cast<double>(at_us) * 1e-6) : json());
      }
      is_known_ = false;
    }
    last_sample_ = sample;
    const auto put = [&](const char* name, const json& value) { out_[name].push_back(value); };
    put("t", static_cast<double>(at_us) * 1e-6);
    put("window", at(n, Column::window_bytes) > 0 ? json(at(n, Column::window_bytes)) : json());
    put("inflight", at(n, Column::inflight_bytes));
    put("waiting", at(n, Column::waiting_bytes));
    put("credit", at(n, Column::credit_bytes));
    put("rtt", microseconds(at(n, Column::rtt_ns)));
    put("base_rtt", microseconds(at(n, Column::base_rtt_ns)));
    put_acks(at_us, n);
    put("evs", at(n, Column::evs));
    put("resting", at(n, Column::evs_resting));
    put("excluded", at(n, Column::evs_excluded));
  }
  json data() const {
    json out = names_;
    out["series"] = out_;
    return out;
  }

 private:
  static json microseconds(int64_t ns) {
    return ns > 0 ? json(static_cast<double>(ns) * 1e-3) : json();
  }
  // Rate and share since the sample before. Counts that fell belong to a new context toward that
  // peer.
  void put_acks(int64_t at_us, const Numbers& n) {
    const int64_t acks = at(n, Column::acks), marked = at(n, Column::marked);
    const bool is_same = acks >= acks_ && marked >= marked_;
    const int64_t more = is_same ? acks - acks_ : acks;
    const int64_t with_mark = is_same ? marked - marked_ : marked;
    const int64_t span = at_us - at_us_;
    out_["acks"].push_back(is_known_ && span > 0
                               ? json(static_cast<double>(more) * 1e6 / static_cast<double>(span))
                               : json());
    out_["ecn"].push_back(is_known_ && more > 0
                              ? json(static_cast<double>(with_mark) / static_cast<double>(more))
                              : json());
    acks_ = acks;
    marked_ = marked;
    at_us_ = at_us;
    is_known_ = true;
  }

  json names_;
  json out_ = json::object();
  uint64_t last_sample_ = 0;
  bool is_known_ = false;  // the three below are from the sample before
  int64_t acks_ = 0;
  int64_t marked_ = 0;
  int64_t at_us_ = 0;
};

json data_of(const std::string& name) {
  const auto ignore_context = [](const json&) {};
  const Facts all = read(name, {ignore_context, [](int64_t, const std::vector<SampleRow>&) {}});
  const uint64_t every = std::max<uint64_t>(1, (all.rows + kRowsOfPage - 1) / kRowsOfPage);
  std::vector<Series> series;
  uint64_t sample = 0, kept = 0;
  read(name, {[&](const json& names) { series.emplace_back(names); },
              [&](int64_t at_us, const std::vector<SampleRow>& rows) {
                if (sample++ % every != 0 && sample != all.samples) return;
                ++kept;
                for (const SampleRow& row : rows) series[row.context].add(kept, at_us, row.numbers);
              }});
  json contexts = json::array();
  for (const Series& one : series) contexts.push_back(one.data());
  return {{"file", std::filesystem::path(name).filename().string()},
          {"began_unix_ms", all.began_unix_ms},
          {"interval_ms", all.interval_ms},
          {"samples", all.samples},
          {"every", every},
          {"left_out", all.left_out},
          {"end", all.end},
          {"paths", contexts}};
}

}  // namespace

bool can_plot(const char* command) {
  if (can_draw()) return true;
  std::fprintf(stderr, "uet_ctl %s: built without D3 (Debian: node-d3)\n", command);
  return false;
}

int plot_file(const std::string& recording, const std::string& page) {
  try {
    const std::string text =
        page_of({"uet_ctl", kStyle, kBody, {kMain}}, "recording", data_of(recording));
    std::ofstream out(page, std::ios::binary);
    out << text;
    if (!out.flush()) throw PlotError(page + ": cannot be written");
    return 0;
  } catch (const PlotError& error) {
    std::fprintf(stderr, "uet_ctl: %s\n", error.what());
    return 2;
  }
}

Command add_plot(CLI::App& app) {
  struct Options {
    std::string recording, page;
  };
  CLI::App* const command = app.add_subcommand("plot", "Plot a recording into an HTML page");
  const auto options = std::make_shared<Options>();
  command->add_option("FILE", options->recording, "A recording, made by uet_ctl record")
      ->required();
  command->add_option("--out", options->page, "HTML page to write")->required();
  return {command, [options] {
            return can_plot("plot") ? plot_file(options->recording, options->page) : 2;
          }};
}

}  // namespace uet::tools
