// Asks libfabric for uet as an application does, in a separate process: output, settings and
// crashes of libraries stay there.
#include "tools/ctl/doctor/facts.h"

#include "io/socket.h"

#include <rdma/fabric.h>

#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

namespace uet::tools {
namespace {

using nlohmann::json;

constexpr const char* kLibrary = "libfabric.so.1";
constexpr std::string_view kPlugin = "uet-fi.so";
// Loading all providers of an installation may take seconds.
constexpr int kPatienceMs = 20'000;

using Version = uint32_t();
using Getinfo = int(uint32_t, const char*, const char*, uint64_t, const fi_info*, fi_info**);

// The file that a symbol came from.
std::string file_of(const void* symbol) {
  Dl_info info{};
  return ::dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

int note_plugin(dl_phdr_info* library, size_t, void* found) {
  const std::string_view name = library->dlpi_name != nullptr ? library->dlpi_name : "";
  // Any text before "uet-fi.so" in the name, as libfabric accepts it.
  if (name.ends_with(kPlugin)) *static_cast<std::string*>(found) = name;
  return 0;
}

json look() {
  json out;
  void* const library = ::dlopen(kLibrary, RTLD_NOW);
  if (library == nullptr) {
    out["problem"] = ::dlerror();
    return out;
  }
  const auto version = reinterpret_cast<Version*>(::dlsym(library, "fi_version"));
  // The layout that every version since 1.3 serves; the members used here have kept their places.
  const auto getinfo = reinterpret_cast<Getinfo*>(::dlvsym(library, "fi_getinfo", "FABRIC_1.3"));
  if (version == nullptr || getinfo == nullptr) {
    out["problem"] = std::string(kLibrary) + " lacks fi_getinfo";
    return out;
  }
  out["path"] = file_of(reinterpret_cast<const void*>(version));
  out["version"] = std::to_string(FI_MAJOR(version())) + "." + std::to_string(FI_MINOR(version()));
  fi_info* list = nullptr;
  out["domains"] = json::array();
  if (getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, nullptr, &list) == 0) {
    for (const fi_info* info = list; info != nullptr; info = info->next) {
      if (std::string_view(info->fabric_attr->prov_name) != "uet") continue;
      const json name = info->domain_attr->name;
      if (std::find(out["domains"].begin(), out["domains"].end(), name) == out["domains"].end()) {
        out["domains"].push_back(name);
      }
    }
  }  // the list ends with the process
  std::string plugin;
  ::dl_iterate_phdr(note_plugin, &plugin);
  out["plugin"] = plugin;
  return out;
}

// Reads a descriptor to its end.
bool drain(int fd, std::string& out) {
  std::array<char, 4096> part;
  const ssize_t got = ::read(fd, part.data(), part.size());
  if (got > 0) out.append(part.data(), static_cast<size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

[[noreturn]] void be_child(int answer, int words) {
  ::dup2(words, STDERR_FILENO);
  ::dup2(words, STDOUT_FILENO);
  ::setenv("FI_LOG_LEVEL", "warn", 1);
  ::setenv("FI_LOG_PROV", "uet", 1);
  const std::string text = look().dump(-1, ' ', false, json::error_handler_t::replace);
  [[maybe_unused]] const ssize_t written = ::write(answer, text.data(), text.size());
  ::_exit(0);
}

}  // namespace

std::string words_of_uet(const std::string& log) {
  std::string out;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    // "libfabric:4711:1795333917:prefix:uet:core:read_params():190<warn> the words"
    const size_t place = line.find(":uet:");
    const size_t level = line.find("<warn> ");
    if (place == line.npos || level == line.npos || place > level) continue;
    out += line.substr(level + 7) + '\n';
  }
  return out;
}

LibfabricFacts ask_libfabric() {
  LibfabricFacts out;
  std::array<int, 2> answer{-1, -1}, words{-1, -1};
  if (::pipe(answer.data()) != 0 || ::pipe(words.data()) != 0) {
    out.problem = "no pipes: " + io::errno_text(errno);
    return out;
  }
  const pid_t child = ::fork();
  if (child == 0) be_child(answer[1], words[1]);
  ::close(answer[1]);
  ::close(words[1]);
  std::string text;
  std::array<pollfd, 2> ends{pollfd{answer[0], POLLIN, 0}, pollfd{words[0], POLLIN, 0}};
  int open = 2;
  while (child > 0 && open > 0) {
    if (::poll(ends.data(), ends.size(), kPatienceMs) <= 0) {
      ::kill(child, SIGKILL);
      out.problem = "loading it took more than 20 s";
      break;
    }
    for (size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].revents == 0 || drain(ends[i].fd, i == 0 ? text : out.warnings)) continue;
      ends[i].fd = -1;  // poll passes it over
      --open;
    }
  }
  ::close(answer[0]);
  ::close(words[0]);
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) {
    out.problem = "no process: " + io::errno_text(errno);
    return out;
  }
  out.warnings = words_of_uet(out.warnings);
  const json said = json::parse(text, nullptr, false);
  if (!said.is_object()) {
    if (out.problem.empty()) out.problem = "the process that loaded it ended early";
    return out;
  }
  out.problem = said.value("problem", out.problem);
  out.path = said.value("path", "");
  out.version = said.value("version", "");
  out.plugin = said.value("plugin", "");
  out.domains = said.value("domains", std::vector<std::string>());
  return out;
}

}  // namespace uet::tools
