// The reading of TOML, by toml++.
#include "sim/training/training_file.h"

#include "sim/traffic/traffic.h"

#include <toml++/toml.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace uet::sim {

namespace {

[[noreturn]] void fail(const std::string& name, const toml::source_region& where,
                       const std::string& what) {
  throw TrafficError(name + ":" + std::to_string(where.begin.line) + ": " + what);
}

std::string text_of(const toml::node& value) {
  if (const auto* text = value.as_string()) return text->get();
  if (const auto* whole = value.as_integer()) return std::to_string(whole->get());
  if (const auto* number = value.as_floating_point()) {
    std::ostringstream out;
    out.precision(17);
    out << number->get();
    return out.str();
  }
  throw TrafficError("the value is neither a number nor text");
}

void read_key(Training& training, std::string_view table, std::string_view name,
              const toml::node& value) {
  for (const TrainingKey& key : training_keys()) {
    if (key.table != table || key.name != name) continue;
    key.set(training, text_of(value));
    return;
  }
  throw TrafficError("there is no such key in " + std::string(table));
}

}  // namespace

void read_training(Training& training, std::string_view text, const std::string& name) {
  toml::table file;
  try {
    file = toml::parse(text);
  } catch (const toml::parse_error& e) {
    fail(name, e.source(), std::string(e.description()));
  }
  for (const auto& [table_name, node] : file) {
    const toml::table* const table = node.as_table();
    const bool is_known =
        table_name == "model" || table_name == "parallelism" || table_name == "cluster";
    if (table == nullptr || !is_known) {
      fail(name, node.source(),
           std::string(table_name.str()) + ": the tables are model, parallelism and cluster");
    }
    for (const auto& [key, value] : *table) {
      try {
        read_key(training, table_name.str(), key.str(), value);
      } catch (const TrafficError& e) {
        fail(name, value.source(), std::string(key.str()) + ": " + e.what());
      }
    }
  }
}

void read_training_file(Training& training, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw TrafficError(path + ": cannot be opened");
  file.peek();  // a folder can be opened, but not read
  if (file.bad()) throw TrafficError(path + ": cannot be read; it must be a file");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  read_training(training, text, path);
}

}  // namespace uet::sim
