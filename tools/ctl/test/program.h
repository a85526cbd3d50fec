// Runs uet_ctl as a user does.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>
#include <utility>

namespace uet::prov::test {

struct Outcome {
  int status = -1;
  std::string out;  // with what went to stderr
};

inline Outcome finish(std::FILE* pipe, std::string out = {}) {
  std::array<char, 4096> part;
  while (const size_t got = std::fread(part.data(), 1, part.size(), pipe)) {
    out.append(part.data(), got);
  }
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, std::move(out)};
}

// `before`: words in front of the command.
inline std::FILE* begin(const std::string& arguments, const std::string& before = "") {
  return popen((before + UET_CTL + " " + arguments + " 2>&1").c_str(), "r");
}

inline Outcome uet_ctl(const std::string& arguments) { return finish(begin(arguments)); }

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace uet::prov::test
