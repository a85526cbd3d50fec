// Reads a matrix line by line; references to other lines are resolved at the end.
#include "sim/traffic/matrix.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <unordered_map>

namespace uet::sim {

namespace {

constexpr uint32_t kHostsMax = 1 << 24;
constexpr double kStartUsMax = 1e14;  // as Traffic::problem() allows

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  Traffic read() {
    while (next_line()) {
      if (words_.empty() || words_[0].front() == '#') continue;
      read_line();
    }
    ++line_;  // the missing part is reported here
    check_counts();
    resolve_triggers();
    count_barriers();
    check_order();
    return std::move(traffic_);
  }

 private:
  struct LineOfFlow {
    uint32_t line = 0;
    bool is_message = false;
  };
  struct LineOfTrigger {
    uint32_t number = 0;
    uint32_t line = 0;
    bool has_count = false;
  };

  [[noreturn]] void fail(uint32_t line, const std::string& what) const {
    throw TrafficError(name_ + ":" + std::to_string(line) + ": " + what);
  }
  [[noreturn]] void fail(const std::string& what) const { fail(line_, what); }

  bool next_line() {
    if (rest_.empty()) return false;
    const size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
    ++line_;
    words_.clear();
    word_ = 0;
    constexpr std::string_view kBlank = " \t\r";
    for (;;) {
      const size_t from = line.find_first_not_of(kBlank);
      if (from == std::string_view::npos) return true;
      const size_t to = std::min(line.find_first_of(kBlank, from), line.size());
      words_.push_back(line.substr(from, to - from));
      line = line.substr(to);
    }
  }

  bool has_word() const { return word_ < words_.size(); }
  std::string_view take_word(std::string_view after) {
    if (!has_word()) fail("a value is missing after " + std::string(after));
    return words_[word_++];
  }

  template <typename T>
  T number(std::string_view word, std::string_view of, T min, T max) const {
    T value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool is_number = error == std::errc{} && end == word.data() + word.size();
    // Written so that NaN fails.
    if (is_number && value >= min && value <= max) return value;
    std::ostringstream says;
    says << of << " is " << min << " to " << max << ", not " << word;
    fail(says.str());
  }
  uint32_t take_number(std::string_view of, uint32_t min = 1, uint32_t max = UINT32_MAX) {
    return number<uint32_t>(take_word(of), of, min, max);
  }

  void read_line() {
    const std::string_view first = words_[word_++];
    if (first == "Nodes") {
      head(nodes_, first, 1, kHostsMax);
      traffic_.hosts = *nodes_;
    } else if (first == "Connections") {
      head(connections_, first, 0, UINT32_MAX);
    } else if (first == "Triggers") {
      head(triggers_, first, 0, UINT32_MAX);
    } else if (first == "Failures") {
      std::optional<uint32_t> none;
      head(none, first, 0, 0);  // failures belong to the topology
    } else if (first == "trigger") {
      read_trigger();
    } else if (const size_t arrow = first.find("->"); arrow != std::string_view::npos) {
      read_flow(first.substr(0, arrow), first.substr(arrow + 2));
    } else {
      fail("what is " + std::string(first) +
           "? A line begins with S->D, trigger, Nodes, Connections or Triggers");
    }
    if (has_word()) fail("surplus word " + std::string(words_[word_]));
  }

  void head(std::optional<uint32_t>& value, std::string_view word, uint32_t min, uint32_t max) {
    if (value) fail("a second line " + std::string(word));
    value = take_number(word, min, max);
  }

  uint32_t host(std::string_view word) const {
    if (!nodes_) fail("the line Nodes must come before the flows");
    return number<uint32_t>(word, "a host", 0, *nodes_ - 1);
  }

  void read_flow(std::string_view from, std::string_view to) {
    Flow flow{.from = host(from), .to = host(to)};
    if (flow.from == flow.to) fail("a host cannot send to itself");
    LineOfFlow origin{line_};
    std::vector<std::string_view> seen;
    while (has_word()) {
      const std::string_view word = words_[word_++];
      for (const std::string_view s : seen) {
        if (s == word) fail("a second " + std::string(word));
      }
      seen.push_back(word);
      read_property(word, flow, origin);
    }
    const auto has = [&seen](std::string_view word) {
      return std::find(seen.begin(), seen.end(), word) != seen.end();
    };
    if (has("start") == has("trigger")) fail("a flow has either a start or a trigger");
    if (!has("size")) fail("a flow needs a size");
    if (origin.is_message && !has("id")) fail("a msg needs the id of its connection");
    check_connection(flow, origin);
    lines_of_flows_.push_back(origin);
    traffic_.add(flow);
  }

  void read_property(std::string_view word, Flow& flow, LineOfFlow& origin) {
    if (word == "id") {
      flow.connection = take_number(word);
    } else if (word == "msg") {
      origin.is_message = true;
      const bool has_number =
          has_word() && words_[word_].front() >= '0' && words_[word_].front() <= '9';
      if (has_number) take_number(word);  // counts the messages: their order says it, too
    } else if (word == "start") {
      const double us = number<double>(take_word(word), word, 0, kStartUsMax);
      flow.start = Duration::nanoseconds(std::llround(us * 1e3));
    } else if (word == "size") {
      flow.bytes = number<uint64_t>(take_word(word), word, 1, UINT64_MAX);
    } else if (word == "trigger") {
      flow.trigger = take_number(word);
    } else if (word == "send_done_trigger") {
      flow.fires[0] = take_number(word);
    } else if (word == "recv_done_trigger") {
      take_number(word);
      fires_nothing_ = line_;
    } else if (word == "prio") {
      flow.priority = take_number(word, 0);
    } else {
      fail("what is " + std::string(word) + "?");
    }
  }

  void check_connection(const Flow& flow, const LineOfFlow& origin) {
    if (flow.connection == 0) return;
    const auto index = static_cast<uint32_t>(traffic_.flows.size());
    const auto [found, is_new] = connections_seen_.try_emplace(flow.connection, index);
    if (is_new) return;
    const Flow& other = traffic_.flows[found->second];
    const LineOfFlow& there = lines_of_flows_[found->second];
    const std::string same =
        "id " + std::to_string(flow.connection) + " is that of line " + std::to_string(there.line);
    if (!origin.is_message || !there.is_message) {
      fail(same + "; messages of one connection have the word msg");
    }
    if (flow.from != other.from || flow.to != other.to) fail(same + ", which has other hosts");
  }

  void read_trigger() {
    uint32_t id = 0;
    std::optional<TriggerKind> kind;
    LineOfTrigger origin{.line = line_};
    Trigger trigger;
    while (has_word()) {
      const std::string_view word = words_[word_++];
      if (word == "id" && id == 0) {
        id = take_number(word);
      } else if (word == "count" && !origin.has_count) {
        trigger.count = take_number(word);
        origin.has_count = true;
      } else if (const auto named = kind_of(word); named && !kind) {
        kind = named;
      } else {
        fail("unknown or repeated word " + std::string(word) + " of a trigger");
      }
    }
    if (id == 0) fail("a trigger needs an id");
    if (!kind) fail("a trigger is oneshot, multishot or barrier");
    if (origin.has_count && *kind != TriggerKind::barrier) fail("only a barrier has a count");
    trigger.kind = *kind;
    origin.number = traffic_.add(trigger);
    const auto [found, is_new] = triggers_seen_.try_emplace(id, origin);
    if (!is_new) {
      fail("trigger " + std::to_string(id) + " is that of line " +
           std::to_string(found->second.line));
    }
  }

  static std::optional<TriggerKind> kind_of(std::string_view word) {
    if (word == "oneshot") return TriggerKind::oneshot;
    if (word == "multishot") return TriggerKind::multishot;
    if (word == "barrier") return TriggerKind::barrier;
    return std::nullopt;
  }

  void check_counts() const {
    if (!nodes_) fail("there is no line Nodes");
    if (!connections_) fail("there is no line Connections");
    const auto check = [this](const char* word, uint32_t says, size_t there) {
      if (says == there) return;
      fail(std::string(word) + " says " + std::to_string(says) + ", and there are " +
           std::to_string(there));
    };
    check("Connections", *connections_, traffic_.flows.size());
    check("Triggers", triggers_.value_or(0), traffic_.triggers.size());
  }

  // From ids of the file to numbers.
  void resolve_triggers() {
    for (Flow& flow : traffic_.flows) {
      for (uint32_t* trigger : {&flow.trigger, &flow.fires[0]}) {
        if (*trigger == 0) continue;
        const auto found = triggers_seen_.find(*trigger);
        if (found == triggers_seen_.end()) {
          fail(lines_of_flows_[flow.id].line, "there is no trigger " + std::to_string(*trigger));
        }
        *trigger = found->second.number;
      }
    }
  }

  void count_barriers() {
    std::vector<uint32_t> firings(traffic_.triggers.size() + 1);
    for (const Flow& flow : traffic_.flows) ++firings[flow.fires[0]];
    for (const auto& [id, origin] : triggers_seen_) {
      Trigger& trigger = traffic_.triggers[origin.number - 1];
      if (trigger.kind != TriggerKind::barrier || origin.has_count) continue;
      trigger.count = firings[origin.number];
      if (trigger.count == 0) fail(origin.line, "no flow fires this barrier");
    }
  }

  void check_order() const {
    const auto stuck = traffic_.stuck_flow();
    if (!stuck) return;
    std::string what = "the flow never begins, because its trigger does not fire often enough";
    if (fires_nothing_ != 0) {
      what += " (the recv_done_trigger of line " + std::to_string(fires_nothing_) +
              " fires nothing: use send_done_trigger)";
    }
    fail(lines_of_flows_[*stuck].line, what);
  }

  std::string_view rest_;
  const std::string& name_;
  uint32_t line_ = 0;
  std::vector<std::string_view> words_;  // of the line
  size_t word_ = 0;                      // the next one
  std::optional<uint32_t> nodes_, connections_, triggers_;
  Traffic traffic_;
  std::vector<LineOfFlow> lines_of_flows_;
  std::unordered_map<uint32_t, uint32_t> connections_seen_;    // id -> its first flow
  std::unordered_map<uint32_t, LineOfTrigger> triggers_seen_;  // by id
  uint32_t fires_nothing_ = 0;                                 // line of the last recv_done_trigger
};

void check_words_for(const Flow& flow) {
  const auto fail = [&flow](const char* what) {
    throw TrafficError("flow " + std::to_string(flow.id) + " (" + std::to_string(flow.from) + "->" +
                       std::to_string(flow.to) + "): a matrix has no word for " + what);
  };
  if (flow.is_pause()) fail("a pause of a host");
  if (flow.trigger != 0 && flow.start != Duration::zero()) fail("a delay after a trigger");
  if (flow.fires[1] != 0) fail("a second trigger that a flow fires");
}

// Microseconds with as many decimals as it takes.
std::string microseconds(Duration time) {
  std::string out = std::to_string(time.us());
  if (const int64_t rest = time.ns() % 1000; rest != 0) {
    out += "." + std::to_string(1000 + rest).substr(1);
    out.erase(out.find_last_not_of('0') + 1);
  }
  return out;
}

// The next id that no connection has.
uint32_t free_id(const std::unordered_map<uint32_t, uint32_t>& messages, uint32_t& last_id) {
  do {
    ++last_id;
  } while (messages.contains(last_id));
  return last_id;
}

}  // namespace

Traffic read_matrix(std::string_view text, const std::string& name) {
  return Reader(text, name).read();
}

Traffic read_matrix_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw TrafficError(path + ": cannot be opened");
  file.peek();  // a folder can be opened, but not read
  if (file.bad()) throw TrafficError(path + ": cannot be read; it must be a file");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return read_matrix(text, path);
}

std::string matrix_text(const Traffic& traffic) {
  std::unordered_map<uint32_t, uint32_t> messages;  // of each connection
  uint32_t last_id = 0;
  for (const Flow& flow : traffic.flows) {
    check_words_for(flow);
    if (flow.connection != 0) ++messages[flow.connection];
  }
  std::ostringstream out;
  out << "Nodes " << traffic.hosts << "\nConnections " << traffic.flows.size() << "\nTriggers "
      << traffic.triggers.size() << "\n";
  for (const Flow& flow : traffic.flows) {
    const uint32_t id = flow.connection != 0 ? flow.connection : free_id(messages, last_id);
    out << flow.from << "->" << flow.to << " id " << id;
    if (flow.connection != 0 && messages[flow.connection] > 1) out << " msg";
    if (flow.trigger != 0) {
      out << " trigger " << flow.trigger;
    } else {
      out << " start " << microseconds(flow.start);
    }
    out << " size " << flow.bytes;
    if (flow.fires[0] != 0) out << " send_done_trigger " << flow.fires[0];
    if (flow.priority != 0) out << " prio " << flow.priority;
    out << "\n";
  }
  constexpr const char* kNames[] = {"oneshot", "multishot", "barrier"};
  for (size_t i = 0; i < traffic.triggers.size(); ++i) {
    const Trigger& trigger = traffic.triggers[i];
    out << "trigger id " << i + 1 << " " << kNames[static_cast<size_t>(trigger.kind)];
    if (trigger.kind == TriggerKind::barrier) out << " count " << trigger.count;
    out << "\n";
  }
  return std::move(out).str();
}

}  // namespace uet::sim
