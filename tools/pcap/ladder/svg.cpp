// A static picture: rows of text and arrows, wide enough for a document, as tall as it takes. Its
// colours follow the reader's light or dark mode; every arrow carries its fields as its title.
#include "tools/pcap/ladder/drawing.h"
#include "tools/pcap/ladder/fields.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace uet::tools::ladder {

namespace {

// In pixels.
constexpr double kWidth = 1000, kLeft = 285, kRight = 865;  // the two lifelines
constexpr double kTop = 118, kRow = 26, kFoot = 24;
constexpr double kProportionalMax = 12000, kLabelEvery = 12;
constexpr double kLaneWidth = 14;
constexpr unsigned kLanes = 7;

constexpr const char* kStyle =
    "text{font:12px system-ui,'DejaVu Sans',sans-serif;fill:#1f2328}"
    ".bg{fill:#fff}.head{font-size:17px;font-weight:600}.end{font-weight:600}"
    ".dim{fill:#59636e;font-size:11px}.mono,.l{font-family:ui-monospace,'DejaVu Sans Mono',"
    "monospace;font-size:11px}.l{paint-order:stroke;stroke:#fff;stroke-width:3px}"
    ".life,.msg{stroke:#818b98;stroke-width:1.5}.msg{fill:none}.a{stroke-width:1.6;fill:none}"
    ".link{fill:none;stroke:#cf222e;stroke-dasharray:2 3}"
    ".nack .a,.lost .a{stroke-width:2.2}.ack .a{stroke-width:1.1}"
    ".control .a{stroke-dasharray:8 3 2 3}.copy .a{stroke-dasharray:3 3}"
    ".again .a{stroke-dasharray:12 3}";
constexpr const char* kStyleDark =
    "text{fill:#e6edf3}.bg{fill:#0d1117}.dim{fill:#9198a1}.l{stroke:#0d1117}.link{stroke:#ff7b72}";

struct Colour {
  const char* css;
  const char* light;
  const char* dark;
};
constexpr Colour kColours[] = {
    {"data", "#0550ae", "#6cb6ff"},    {"ack", "#1a7f37", "#57d364"},
    {"nack", "#cf222e", "#ff7b72"},    {"lost", "#cf222e", "#ff7b72"},
    {"control", "#8250df", "#d2a8ff"}, {"again", "#bc4c00", "#ffa657"},
    {"copy", "#59636e", "#9198a1"},
};

std::string style() {
  std::string light = kStyle, dark = kStyleDark;
  for (const Colour& c : kColours) {
    const auto rules = [&](const char* colour) {
      const std::string css = std::string(".") + c.css;
      return css + " .a{stroke:" + colour + "}" + css + " .h," + css + " .l{fill:" + colour + "}";
    };
    light += rules(c.light);
    dark += rules(c.dark);
  }
  return light + "@media(prefers-color-scheme:dark){" + dark + "}";
}

class Svg {
 public:
  // Only numbers and fixed text; texts of a capture go through text().
  __attribute__((format(printf, 2, 3))) void put(const char* format, ...) {
    char line[512];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    out_ += line;
  }
  // Characters that XML does not allow become U+FFFD.
  void text(const std::string& said) {
    for (const char c : said) {
      switch (c) {
        case '<':
          out_ += "&lt;";
          break;
        case '>':
          out_ += "&gt;";
          break;
        case '&':
          out_ += "&amp;";
          break;
        case '"':
          out_ += "&quot;";
          break;
        default:
          // All of it is ASCII unless a file's name or an attacker's packet has other characters.
          if (c == '\n' || (c >= ' ' && c <= '~')) {
            out_ += c;
          } else {
            out_ += "\xEF\xBF\xBD";
          }
      }
    }
  }
  void line(double x1, double y1, double x2, double y2, const char* css) {
    put("<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", css, x1, y1, x2,
        y2);
  }
  void label(double x, double y, const char* css, const char* anchor, const std::string& said) {
    put("<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", css, x, y, anchor);
    text(said);
    out_ += "</text>\n";
  }
  void raw(const char* said) { out_ += said; }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// Where on the page each event is.
struct Places {
  std::vector<double> sent, arrived;  // by rung, from drawing.first on
  double bottom = kTop;
};

Places compact(const Drawing& drawing) {
  struct Event {
    int64_t time_ns;
    uint32_t at;
    bool arrival;
  };
  std::vector<Event> events;
  for (uint32_t i = 0; i < drawing.count; ++i) {
    const Rung& rung = drawing.ladder->rungs[drawing.first + i];
    events.push_back({rung.time_ns, i, false});
    if (rung.fate == Fate::arrived) events.push_back({rung.arrived_ns, i, true});
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.time_ns < b.time_ns; });
  Places out;
  out.sent.resize(drawing.count);
  for (uint32_t i = 0; i < drawing.count; ++i) out.sent[i] = 0;
  out.arrived = out.sent;
  for (const Event& event : events) {
    out.bottom += kRow;
    (event.arrival ? out.arrived : out.sent)[event.at] = out.bottom;
  }
  for (uint32_t i = 0; i < drawing.count; ++i) {
    if (out.arrived[i] == 0) out.arrived[i] = out.sent[i];
  }
  return out;
}

Places proportional(const Drawing& drawing) {
  const auto& rungs = drawing.ladder->rungs;
  Places out;
  if (drawing.count == 0) return out;
  const int64_t start = rungs[drawing.first].time_ns;
  int64_t last = start;
  for (uint32_t i = drawing.first; i < drawing.end(); ++i) {
    last = std::max({last, rungs[i].time_ns, rungs[i].arrived_ns});
  }
  const double height = std::min(kRow * drawing.count, kProportionalMax);
  const double scale = height / static_cast<double>(std::max<int64_t>(last - start, 1));
  const auto place = [&](int64_t t) {
    return kTop + kRow + static_cast<double>(t - start) * scale;
  };
  for (uint32_t i = drawing.first; i < drawing.end(); ++i) {
    out.sent.push_back(place(rungs[i].time_ns));
    out.arrived.push_back(
        place(rungs[i].fate == Fate::arrived ? rungs[i].arrived_ns : rungs[i].time_ns));
  }
  out.bottom = kTop + kRow + height;
  return out;
}

const char* class_of(const Rung& rung) {
  if (rung.fate == Fate::lost) return "lost";
  if (rung.kind == Kind::nack) return "nack";
  if (rung.duplicate) return "copy";
  if (rung.retransmission && rung.kind != Kind::ack) return "again";
  return name(rung.kind);
}

// Signs besides the colours, for readers who do not see colours.
std::string marked(const Rung& rung) {
  std::string out = rung.label;
  if (rung.fate == Fate::lost) out += ", lost";
  if (rung.duplicate) out += ", duplicate";
  if (rung.retransmission) out += ", sent again";
  if (rung.out_of_order) out += ", out of order";
  return out;
}

class Picture {
 public:
  explicit Picture(const Drawing& drawing)
      : drawing_(drawing),
        decode_(drawing.trailer),
        ladder_(*drawing.ladder),
        places_(drawing.axis == TimeAxis::compact ? compact(drawing) : proportional(drawing)) {}

  std::string draw() {
    head();
    lifelines();
    for (uint32_t i = 0; i < drawing_.count; ++i) links(i);
    messages();
    svg_.raw("<g role=\"list\" aria-label=\"Packets\">\n");
    for (uint32_t i = 0; i < drawing_.count; ++i) arrow(i);
    svg_.raw("</g>\n");
    for (uint32_t i = 0; i < drawing_.count; ++i) label(i);
    foot();
    svg_.raw("</svg>\n");
    return svg_.take();
  }

 private:
  const Rung& rung(uint32_t at) const { return ladder_.rungs[drawing_.first + at]; }
  static double x_of(uint8_t way) { return way == 0 ? kLeft : kRight; }

  void head() {
    const double height = places_.bottom + kRow + kFoot;
    svg_.put("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" ", kWidth,
             height);
    svg_.put("width=\"%.0f\" height=\"%.0f\" role=\"img\" aria-labelledby=\"t d\">\n", kWidth,
             height);
    svg_.raw("<title id=\"t\">");
    svg_.text(title_text(ladder_));
    svg_.raw("</title>\n<desc id=\"d\">");
    svg_.text("Sequence diagram of " + std::to_string(drawing_.count) + " packets from " +
              drawing_.capture + ". " + ends_text(ladder_) + " " + cut_text(drawing_));
    svg_.raw("</desc>\n<style>");
    svg_.raw(style().c_str());
    svg_.put("</style>\n<rect class=\"bg\" width=\"%.0f\" height=\"%.0f\"/>\n", kWidth, height);
    svg_.label(16, 28, "head", "start", title_text(ladder_));
    const Counts& n = ladder_.counts;
    std::string sum = std::to_string(ladder_.rungs.size()) +
                      " packets: " + std::to_string(n.of_kind[0]) + " data, " +
                      std::to_string(n.of_kind[1]) + " ACK, " + std::to_string(n.of_kind[2]) +
                      " NACK, " + std::to_string(n.of_kind[3]) + " control; " +
                      std::to_string(n.retransmissions) + " sent again, " +
                      std::to_string(n.duplicates) + " duplicate";
    if (ladder_.both_ends) sum += ", " + std::to_string(n.lost) + " lost";
    svg_.label(16, 48, "dim", "start", sum + ". From " + drawing_.capture + ".");
    svg_.label(16, 66, "dim", "start", ends_text(ladder_) + " " + cut_text(drawing_));
  }

  void lifelines() {
    const Conversation& c = ladder_.conversation;
    for (uint8_t end = 0; end < 2; ++end) {
      const char* role = end == 0 ? "initiator" : "target";
      svg_.label(x_of(end), kTop - 22, "end", "middle", text_of(c.address[end]));
      std::string below = role;
      if (c.pdcid[end] != Pdcid{}) below += ", PDCID " + std::to_string(c.pdcid[end].value());
      svg_.label(x_of(end), kTop - 6, "dim", "middle", below);
      svg_.line(x_of(end), kTop, x_of(end), places_.bottom + kRow / 2, "life");
    }
    svg_.label(16, kTop - 6, "dim", "start", "frame");
    svg_.label(136, kTop - 6, "dim", "end", "time");
  }

  void arrow(uint32_t at) {
    const Rung& r = rung(at);
    const bool lost = r.fate == Fate::lost;
    const double from = x_of(r.way), to = x_of(r.way ^ 1U);
    const double sign = r.way == 0 ? 1 : -1;
    const double y1 = places_.sent[at], y2 = places_.arrived[at];
    const double reach = lost ? from + (to - from) * 0.8 : to;
    svg_.put("<g role=\"listitem\" class=\"%s\" id=\"p%u\"><title>", class_of(r), at + 1);
    svg_.text("Frame " + std::to_string(r.frame) + ", " + duration_text(r.time_ns) + ": " +
              marked(r));
    for (const FieldText& f : fields_of(*r.captured, decode_)) {
      svg_.text("\n" + f.name + " = " + f.value);
    }
    svg_.raw("</title>");
    svg_.line(from, y1, reach - sign * 7, y2, "a");
    if (lost) {
      svg_.line(reach - 6, y2 - 6, reach + 6, y2 + 6, "a");
      svg_.line(reach - 6, y2 + 6, reach + 6, y2 - 6, "a");
    } else {
      svg_.put("<path class=\"h\" d=\"M%.1f %.1fl%.1f -4.5v9z\"/>\n", to, y2, -sign * 9);
    }
    svg_.raw("</g>\n");
  }

  // Above all arrows, so that none runs through it.
  void label(uint32_t at) {
    const Rung& r = rung(at);
    const double y = places_.sent[at];
    if (y - last_label_ < kLabelEvery) return;
    last_label_ = y;
    ++labelled_;
    svg_.put("<g class=\"%s\">", class_of(r));
    svg_.label(x_of(r.way) + (r.way == 0 ? 12 : -12), y - 5, "l", r.way == 0 ? "start" : "end",
               marked(r));
    svg_.raw("</g>");
    svg_.label(16, y + 4, "mono dim", "start", std::to_string(r.frame));
    svg_.label(136, y + 4, "mono dim", "end", duration_text(r.time_ns));
  }

  // A NACK and the refused packet, on the side of the refusing end.
  void links(uint32_t at) {
    const Rung& r = rung(at);
    if (r.kind != Kind::nack || r.answers == kNone || r.answers < drawing_.first) return;
    const double x = x_of(r.way), out = r.way == 0 ? -26 : 26;
    const double y1 = places_.arrived[r.answers - drawing_.first], y2 = places_.sent[at];
    svg_.put("<path class=\"link\" d=\"M%.1f %.1fc%.1f 0 %.1f %.1f 0 %.1f\"/>\n", x, y1, out, out,
             y2 - y1, y2 - y1);
  }

  // Brackets outside the lifelines, in lanes so that they do not lie on each other.
  void messages() {
    std::vector<double> lanes[2] = {std::vector<double>(kLanes, 0), std::vector<double>(kLanes, 0)};
    for (const Message& m : ladder_.messages) {
      if (m.first == m.last || m.first < drawing_.first || m.first >= drawing_.end()) continue;
      const double y1 = places_.sent[m.first - drawing_.first];
      const bool runs_on = m.last >= drawing_.end();
      const double y2 = runs_on ? places_.bottom + kRow / 2 : place_of_last(m);
      unsigned lane = 0;
      while (lane < kLanes && lanes[m.way][lane] > y1 - 2) ++lane;
      if (lane == kLanes) {
        ++without_bracket_;
        continue;
      }
      lanes[m.way][lane] = y2;
      bracket(m, y1, y2, lane);
    }
  }

  double place_of_last(const Message& m) const {
    const uint32_t at = m.last - drawing_.first;
    const bool comes_back = rung(at).way != m.way;
    return comes_back ? places_.arrived[at] : places_.sent[at];
  }

  void bracket(const Message& m, double y1, double y2, unsigned lane) {
    const double out = m.way == 0 ? -1 : 1;
    const double x = x_of(m.way) + out * (30 + lane * kLaneWidth);
    svg_.raw("<g><title>");
    svg_.text("Message " + std::to_string(m.id) + ", " + wire::name(m.opcode) + ", " +
              std::to_string(m.length) + " octets");
    svg_.put("</title><path class=\"msg\" d=\"M%.1f %.1fh%.1fV%.1fh%.1f\"/>", x - out * 5, y1,
             out * 5, y2, -out * 5);
    svg_.put(
        "<text class=\"dim mono\" transform=\"translate(%.1f %.1f) rotate(-90)\" "
        "text-anchor=\"middle\">",
        x - 3, (y1 + y2) / 2);
    if (y2 - y1 > 40) svg_.text(m.id == 0 ? wire::name(m.opcode) : "msg " + std::to_string(m.id));
    svg_.raw("</text></g>\n");
  }

  void foot() {
    std::string said;
    if (labelled_ < drawing_.count) {
      said += std::to_string(drawing_.count - labelled_) +
              " arrows are too close to the one before for a label; their titles have it. ";
    }
    if (without_bracket_ > 0) {
      said += std::to_string(without_bracket_) + " messages have no room for a bracket.";
    }
    svg_.label(16, places_.bottom + kRow + 8, "dim", "start", said);
  }

  const Drawing& drawing_;
  Decoder decode_;
  const Ladder& ladder_;
  Places places_;
  Svg svg_;
  double last_label_ = 0;
  uint32_t labelled_ = 0, without_bracket_ = 0;
};

}  // namespace

std::string svg_of(const Drawing& drawing) { return Picture(drawing).draw(); }

}  // namespace uet::tools::ladder
