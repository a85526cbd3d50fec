// One line for each waiting operation.
#include "tools/ctl/dump_text.h"

#include "tools/ctl/members.h"

#include <cstdint>
#include <cstdio>

namespace uet::tools {
namespace {

// "12.3 ms", or "-" for a timer that is not armed.
std::string span(const json& o, const char* name) {
  const auto at = o.find(name);
  if (at == o.end() || !at->is_number_integer() || at->get<int64_t>() < 0) return "-";
  const auto us = at->get<int64_t>();
  char text[40];
  if (us < 10'000) {
    std::snprintf(text, sizeof text, "%lld us", static_cast<long long>(us));
  } else if (us < 10'000'000) {
    std::snprintf(text, sizeof text, "%lld.%lld ms", static_cast<long long>(us / 1000),
                  static_cast<long long>(us % 1000 / 100));
  } else {
    std::snprintf(text, sizeof text, "%lld s", static_cast<long long>(us / 1'000'000));
  }
  return text;
}

std::string pdc_line(const json& p) {
  const uint64_t outstanding = (number(p, "tx_next") - number(p, "tx_base")) & 0xFFFF'FFFF;
  std::string line = "PDC " + count(p, "id") + " (peer's " + count(p, "peer_id") + ") " +
                     word(p, "role") + ' ' + word(p, "mode") + ' ' + word(p, "state") + " with " +
                     word(p, "peer") + ": " + std::to_string(outstanding) + " outstanding";
  if (outstanding != 0) {
    line += " from PSN " + count(p, "tx_base") + ", oldest sent " + span(p, "oldest_us") +
            " ago, " + count(p, "oldest_resends") + " resends, " + count(p, "oldest_nacks") +
            " NACKs, " + count(p, "lost") + " lost, waiting for " + span(p, "waiting_us");
  }
  if (number(p, "refused_us") != 0) line += ", refused for " + span(p, "refused_us");
  line += "; in flight " + count(p, "inflight_bytes") + " of " + count(p, "window_bytes") +
          " octets; received up to " + count(p, "rx_cack");
  if (number(p, "out_of_order") != 0) {
    line += " and " + count(p, "out_of_order") + " packets up to " + count(p, "rx_max");
  }
  if (number(p, "verdicts") != 0) line += ", " + count(p, "verdicts") + " requests unanswered";
  if (flag(p, "close_asked")) line += ", to be closed";
  return line + "; silent for " + span(p, "silent_us") + ", timer in " + span(p, "timer_us");
}

std::string operation_line(const json& o) {
  std::string line =
      word(o, "kind") + " of " + count(o, "bytes") + " octets, context " + word(o, "context") +
      ", tag or key " + count(o, "tag") + ", to " + word(o, "peer") + ' ' + count(o, "peer_pid") +
      '/' + count(o, "peer_ri") + ": " + word(o, "state") + ", " + count(o, "packets_done") +
      " of " + count(o, "packets_sent") + " packets answered, message " + count(o, "message_id");
  if (number(o, "retries") != 0) {
    line += ", refused " + count(o, "retries") + " times for " + span(o, "refused_us") +
            ", again in " + span(o, "timer_us");
  }
  return line;
}

std::string receive_line(const json& r) {
  std::string line = std::string(flag(r, "tagged") ? "tagged " : "") +
                     (flag(r, "multi") ? "multi-" : "") + "receive of " + count(r, "bytes") +
                     " octets, context " + word(r, "context");
  if (flag(r, "tagged")) line += ", tag " + count(r, "tag") + " ignore " + count(r, "ignore");
  if (!word(r, "from").empty()) line += ", from " + word(r, "from") + " only";
  return line + (flag(r, "matched") ? ", a message is arriving" : "");
}

std::string kept_line(const json& k) {
  return std::string(flag(k, "tagged") ? "tagged " : "") + "message of " + count(k, "bytes") +
         " octets from " + word(k, "peer") + " initiator " + count(k, "initiator") +
         (flag(k, "tagged") ? ", tag " + count(k, "tag") : std::string()) +
         (flag(k, "complete") ? "" : ", not complete");
}

std::string arriving_line(const json& a) {
  return "message " + count(a, "message_id") + " from " + word(a, "peer") + ": " +
         count(a, "arrived") + " of " + count(a, "bytes") + " octets, silent for " +
         span(a, "silent_us");
}

void put_list(std::string& out, const json& domain, const char* name, const char* title,
              std::string (*line)(const json&)) {
  const json list = domain.value(name, json::object());
  const uint64_t total = number(list, "count");
  const json listed = list.value("listed", json::array());
  out += "  " + std::to_string(total) + ' ' + title + '\n';
  for (const json& entry : listed) out += "    " + line(entry) + '\n';
  if (total > listed.size()) {
    out += "    and " + std::to_string(total - listed.size()) + " more\n";
  }
}

}  // namespace

std::string dump_for_people(const json& domain) {
  std::string out = count(domain, "pid") + ' ' + word(domain, "program") + ": " +
                    word(domain, "domain") + ", " + word(domain, "address") + " port " +
                    count(domain, "port") + '\n';
  if (flag(domain, "held")) {
    return out + "  a thread is inside the provider and does not come out; a debugger says where\n";
  }
  out += "  next timer in " + span(domain, "timer_us") +
         (flag(domain, "backlog") ? ", packets could be sent" : "") +
         (flag(domain, "blocked") ? ", the network takes none" : "") + ", " +
         count(domain, "peers") + " peers, " + count(domain, "inflight_bytes") +
         " octets in flight\n";
  out += "  unexpected messages hold " + count(domain, "kept_pages") + " of " +
         count(domain, "kept_pages_max") + " pages";
  if (number(domain, "disabled_indices") != 0) {
    out +=
        "; " + count(domain, "disabled_indices") + " indices refuse messages until there is room";
  }
  out += '\n';
  put_list(out, domain, "operations", "operations in flight", operation_line);
  put_list(out, domain, "receives", "receives posted", receive_line);
  put_list(out, domain, "kept", "unexpected messages held", kept_line);
  put_list(out, domain, "arriving", "messages half received", arriving_line);
  put_list(out, domain, "pdcs", "PDCs", pdc_line);
  return out;
}

}  // namespace uet::tools
