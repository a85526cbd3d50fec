// The client's side of the socket of uet_ctl; the server's is prov/uet/control_socket.
#include "tools/ctl/control_client.h"

#include "tools/ctl/members.h"

#include "prov/uet/observe/control_socket.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <tuple>

namespace uet::tools {
namespace {

constexpr size_t kAnswerBytes = 1 << 20;

// "uet-ctl/4711/0"; anything else is not a socket of uet.
bool parse_name(std::string_view name, pid_t& pid, uint32_t& number) {
  if (!name.starts_with(prov::kControlPrefix)) return false;
  name.remove_prefix(prov::kControlPrefix.size());
  const size_t slash = name.find('/');
  if (slash == name.npos) return false;
  const auto whole = [](std::string_view text, auto& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc{} && end == text.data() + text.size();
  };
  return whole(name.substr(0, slash), pid) && whole(name.substr(slash + 1), number) && pid > 0;
}

bool connect_to(const io::Fd& fd, const std::string& name) {
  sockaddr_un address{};
  if (name.size() + 1 > sizeof address.sun_path) return false;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  timeval patience{};
  patience.tv_sec = kPatience.ns() / 1'000'000'000;
  return ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0 &&
         ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0 &&
         ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0;
}

std::string silence(int error) {
  if (error == EAGAIN || error == EWOULDBLOCK) {
    return "does not answer; is it stopped?";
  }
  return "does not answer: " + io::errno_text(error);
}

// Text of another process goes to a terminal: control characters become '?'.
void make_printable(std::string& text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
}

void make_printable(nlohmann::ordered_json& value) {
  if (value.is_string()) make_printable(value.get_ref<std::string&>());
  if (!value.is_structured()) return;
  for (auto& member : value) make_printable(member);
}

// Sends the request and reads the answer. Sets reply.status or reply.problem.
void converse(const io::Fd& fd, std::string_view request, Reply& reply) {
  if (::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) {
    reply.problem = silence(errno);
    return;
  }
  const char* const member = request == prov::kStatsRequest ? "counters" : "held";
  std::string text(kAnswerBytes, '\0');
  const ssize_t got = ::recv(fd.get(), text.data(), text.size(), 0);
  if (got <= 0) {
    reply.problem = got < 0 ? silence(errno) : "ended without an answer";
    return;
  }
  text.resize(static_cast<size_t>(got));
  nlohmann::ordered_json status = nlohmann::ordered_json::parse(text, nullptr, false);
  if (status.is_object() && status.contains("error")) {
    reply.problem = "refuses: " + status["error"].dump();
  } else if (!status.is_object() || !status.contains(member) || status["version"] != 1) {
    reply.problem = "gives an answer that this uet_ctl does not understand";
  } else {
    make_printable(status);
    reply.status = std::move(status);
  }
}

// Limit of all pages together: more contexts than a domain can have.
constexpr uint32_t kPagesMax = 1024;

bool is_busy(const json& path) {
  return number(path, "inflight_bytes") != 0 || number(path, "backlog_bytes") != 0 ||
         number(path, "resend_bytes") != 0;
}

}  // namespace

std::vector<Found> find_domains() {
  std::vector<std::tuple<pid_t, uint32_t, std::string>> found;
  std::ifstream list("/proc/net/unix");
  for (std::string line; std::getline(list, line);) {
    const size_t at = line.rfind(" @");  // how the system writes an abstract name
    pid_t pid = 0;
    uint32_t number = 0;
    if (at == line.npos || !parse_name(std::string_view(line).substr(at + 2), pid, number))
      continue;
    found.emplace_back(pid, number, line.substr(at + 2));
  }
  std::sort(found.begin(), found.end());
  // The server's end of every connection is listed under the same name.
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<Found> out;
  out.reserve(found.size());
  for (const auto& [pid, number, name] : found) out.push_back({name, pid});
  return out;
}

Reply ask(const Found& domain, std::string_view request) {
  Reply reply;
  const io::Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd || !connect_to(fd, domain.name)) {
    // Between the listing and now it may have ended.
    const int error = errno;
    if (error != ECONNREFUSED) reply.problem = silence(error);
    return reply;
  }
  ucred owner{};
  socklen_t length = sizeof owner;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &owner, &length) != 0) {
    reply.problem = "cannot be identified: " + io::errno_text(errno);
    return reply;
  }
  reply.pid = owner.pid;
  reply.foreign = ::geteuid() != 0 && owner.uid != ::geteuid();
  if (reply.foreign) {
    reply.problem = "belongs to user " + std::to_string(owner.uid) +
                    "; only that user and root "
                    "may ask it";
    return reply;
  }
  converse(fd, request, reply);
  return reply;
}

Reply ask_contexts(const Found& domain, uint32_t most) {
  Reply whole = ask(domain, prov::kContextsRequest);
  json paths = json::array();
  for (uint32_t pages = 1; whole.status.is_object() && !flag(whole.status, "held"); ++pages) {
    const json page = whole.status.value("paths", json::object());
    for (const json& path : objects(page, "listed")) paths.push_back(path);
    if (paths.size() > most) {
      std::stable_partition(paths.begin(), paths.end(), is_busy);
      paths.erase(paths.begin() + most, paths.end());
    }
    if (!page.contains("next") || pages == kPagesMax) break;
    const pid_t pid = whole.pid;
    whole = ask(domain, std::string(prov::kContextsRequest) + ' ' + count(page, "next"));
    if (whole.pid != pid && whole.problem.empty())
      whole.problem = "ended in the middle of its answer";
  }
  if (!whole.problem.empty()) whole.status = nullptr;
  if (whole.status.is_object() && !flag(whole.status, "held")) {
    whole.status["paths"]["listed"] = std::move(paths);
    whole.status["paths"].erase("next");
  }
  return whole;
}

std::string program_of(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(in, name);
  make_printable(name);
  return name.empty() ? "?" : name;
}

}  // namespace uet::tools
