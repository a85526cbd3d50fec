// Writing the lines.
#include "tools/ctl/recording.h"

#include <algorithm>

namespace uet::tools {
namespace {

std::string line_of(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

json names_of(const json& domain, const json& context) {
  json out;
  for (const char* name : kNames) {
    const json& owner = context.contains(name) ? context : domain;
    const auto at = owner.find(name);
    if (at != owner.end() && (at->is_string() || at->is_number_unsigned())) out[name] = *at;
  }
  return out;
}

Numbers numbers_of(const json& context) {
  Numbers out{};
  for (size_t i = 0; i < kColumns.size(); ++i) out[i] = signed_number(context, kColumns[i]);
  out[static_cast<size_t>(Column::waiting_bytes)] =
      signed_number(context, "backlog_bytes") + signed_number(context, "resend_bytes");
  return out;
}

}  // namespace

void Recorder::begin(int64_t unix_ms, int64_t interval_ms) {
  json columns = {"path"};
  for (const char* name : kColumns) columns.push_back(name);
  write(line_of({{kRecordMark, kRecordVersion},
                 {"began_unix_ms", unix_ms},
                 {"interval_ms", interval_ms},
                 {"columns", columns}}));
}

void Recorder::add(int64_t at_us, const std::vector<json>& domains) {
  std::string lines;
  json rows = json::array();
  uint64_t left_out = 0;
  for (const json& domain : domains) {
    const json contexts = domain.value("paths", json::object());
    const json listed = objects(contexts, "listed");
    left_out += std::max<uint64_t>(number(contexts, "count"), listed.size()) - listed.size();
    for (const json& context : listed) {
      json names = names_of(domain, context);
      const auto [known, is_new] =
          indices_.try_emplace(names.dump(-1, ' ', false, json::error_handler_t::replace),
                               static_cast<uint32_t>(indices_.size()));
      if (is_new && indices_.size() > contexts_max_) {
        indices_.erase(known);
        ++left_out;
        continue;
      }
      if (is_new) {
        json line = {{"path", known->second}};
        line.update(names);
        lines += line_of(line);
      }
      json row = {known->second};
      for (const int64_t value : numbers_of(context)) row.push_back(value);
      rows.push_back(std::move(row));
    }
  }
  lines += line_of({{"t_us", at_us}, {"rows", rows}});
  left_out_ = std::max(left_out_, left_out);
  if (bytes_ + lines.size() + kEndBytes > bytes_max_) {
    is_full_ = true;
    return;
  }
  write(lines);
  ++samples_;
}

void Recorder::end(const char* reason) {
  write(line_of({{"end", reason}, {"samples", samples_}, {"left_out", left_out_}}));
}

void Recorder::write(const std::string& lines) {
  const bool is_written =
      std::fwrite(lines.data(), 1, lines.size(), out_) == lines.size() && std::fflush(out_) == 0;
  if (!is_written) has_failed_ = true;
  bytes_ += lines.size();
}

}  // namespace uet::tools
