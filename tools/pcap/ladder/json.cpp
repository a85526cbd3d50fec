// The ladder as JSON, and the page that draws it: the same JSON inside a fixed document.
#include "tools/pcap/ladder/drawing.h"
#include "tools/pcap/ladder/fields.h"
#include "tools/pcap/ladder/page_parts.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <map>

namespace uet::tools::ladder {

namespace {

using Json = nlohmann::ordered_json;

// Other rungs by their place in the list of those drawn; the frame where they are not drawn.
void put_link(Json& out, const Drawing& drawing, const char* key, uint32_t rung) {
  if (rung == kNone) return;
  if (rung >= drawing.first && rung < drawing.end()) out[key] = rung - drawing.first;
  out[std::string(key) + "_frame"] = drawing.ladder->rungs[rung].frame;
}

// The names of fields, each once: a page of many packets would be mostly names.
class NameList {
 public:
  size_t index_of(const std::string& name) {
    const auto [at, is_new] = known_.try_emplace(name, known_.size());
    if (is_new) names_.push_back(name);
    return at->second;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::map<std::string, size_t> known_;
  std::vector<std::string> names_;
};

// An object; with a list of names, indices into it and values in turn.
Json fields_json(const Rung& rung, Decoder& decode, NameList* names) {
  Json out = names == nullptr ? Json::object() : Json::array();
  for (FieldText& field : fields_of(*rung.captured, decode)) {
    if (names == nullptr) {
      out[std::move(field.name)] = std::move(field.value);
    } else {
      out.push_back(names->index_of(field.name));
      out.push_back(std::move(field.value));
    }
  }
  return out;
}

Json packet_json(const Drawing& drawing, const Rung& rung, Decoder& decode, NameList* names) {
  Json out = {{"frame", rung.frame},     {"time_ns", rung.time_ns}, {"way", rung.way},
              {"kind", name(rung.kind)}, {"label", rung.label},     {"octets", rung.octets}};
  if (rung.has_psn) out["psn"] = rung.psn;
  if (rung.message != kNone) out["message"] = rung.message;
  if (drawing.ladder->both_ends) out["fate"] = name(rung.fate);
  if (rung.fate == Fate::arrived) {
    out["arrived_ns"] = rung.arrived_ns;
    out["arrived_frame"] = rung.other_frame;
  }
  for (const auto& [key, set] : {std::pair{"retransmission", rung.retransmission},
                                 {"duplicate", rung.duplicate},
                                 {"out_of_order", rung.out_of_order},
                                 {"trimmed", rung.trimmed},
                                 {"rejected", rung.rejected}}) {
    if (set) out[key] = true;
  }
  put_link(out, drawing, "answers", rung.answers);
  put_link(out, drawing, "acked_by", rung.acked_by);
  put_link(out, drawing, "nacked_by", rung.nacked_by);
  put_link(out, drawing, "previous", rung.previous);
  put_link(out, drawing, "caused_by", rung.caused_by);
  if (rung.cause != Cause::none) out["cause"] = name(rung.cause);
  out["fields"] = fields_json(rung, decode, names);
  return out;
}

Json message_json(const Drawing& drawing, const Message& m) {
  Json out = {{"id", m.id},
              {"way", m.way},
              {"opcode", wire::name(m.opcode)},
              {"length", m.length},
              {"octets_seen", m.seen}};
  const bool whole = m.first >= drawing.first && m.last < drawing.end();
  if (!whole) return out;
  out["first"] = m.first - drawing.first;
  out["last"] = m.last - drawing.first;
  if (m.response != kNone) out["response"] = m.response - drawing.first;
  return out;
}

Json head_json(const Drawing& drawing) {
  const Ladder& ladder = *drawing.ladder;
  const Conversation& c = ladder.conversation;
  Json ends = Json::array();
  for (unsigned end = 0; end < 2; ++end) {
    ends.push_back({{"address", text_of(c.address[end])}, {"pdcid", c.pdcid[end].value()}});
  }
  Json points = Json::array();
  for (const CapturePoint& point : drawing.points) {
    points.push_back({{"name", point.name}, {"comment", point.comment}});
  }
  const Counts& n = ladder.counts;
  Json counts = {{"packets", ladder.rungs.size()},
                 {"data", n.of_kind[0]},
                 {"ack", n.of_kind[1]},
                 {"nack", n.of_kind[2]},
                 {"control", n.of_kind[3]},
                 {"retransmissions", n.retransmissions},
                 {"duplicates", n.duplicates}};
  counts["lost"] = ladder.both_ends ? Json(n.lost) : Json();
  Json out = {{"capture", drawing.capture},      {"points", points},
              {"title", title_text(ladder)},     {"pdc", ladder.number},
              {"mode", c.rod ? "ROD" : "RUD"},   {"ends", ends},
              {"both_ends", ladder.both_ends},   {"clock_ns", ladder.clock_ns},
              {"about_ends", ends_text(ladder)}, {"counts", counts},
              {"cut", cut_text(drawing)},        {"first", drawing.first}};
  if (c.start_psn) out["start_psn"] = c.start_psn->value();
  out["axis"] = drawing.axis == TimeAxis::compact ? "compact" : "proportional";
  return out;
}

std::string dump(const Json& json, int indent) {
  // Invalid UTF-8 becomes U+FFFD; all non-ASCII characters are escaped.
  return json.dump(indent, ' ', true, Json::error_handler_t::replace);
}

Json whole_json(const Drawing& drawing, NameList* names) {
  const Ladder& ladder = *drawing.ladder;
  Json out = head_json(drawing);
  Json& messages = out["messages"] = Json::array();
  for (const Message& message : ladder.messages) messages.push_back(message_json(drawing, message));
  Decoder decode(drawing.trailer);
  Json& packets = out["packets"] = Json::array();
  for (uint32_t i = drawing.first; i < drawing.end(); ++i) {
    packets.push_back(packet_json(drawing, ladder.rungs[i], decode, names));
  }
  if (names != nullptr) out["names"] = names->names();
  return out;
}

// Inside a script element: no text can end the element or begin a comment.
std::string inside_html(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string json_of(const Drawing& drawing) { return dump(whole_json(drawing, nullptr), 1) + "\n"; }

std::string page_of(const Drawing& drawing) {
  NameList names;
  std::string out = kPageHead;
  out += "<style>\n";
  out += kPageStyle;
  out += "</style>\n";
  out += kPageBody;
  out += "<script id=\"ladder\" type=\"application/json\">";
  out += inside_html(dump(whole_json(drawing, &names), -1));
  out += "</script>\n<script>\n";
  for (const char* part : kPageScripts) out += part;
  out += "</script>\n</body>\n</html>\n";
  return out;
}

}  // namespace uet::tools::ladder
