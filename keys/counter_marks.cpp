// Lines "CHECK_VALUE SOURCE MARK", and "end" as the last: a file that was cut is not believed.
#include "keys/counter_marks.h"

#include "keys/key_file.h"
#include "keys/whole_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <sstream>

namespace uet::keys {

namespace {

constexpr const char* kHead = "# Counters used: docs/decisions/0022 of uet. Do not edit or copy.\n";
constexpr const char* kEnd = "end\n";

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw KeyFileError(path + ": " + what);
}

std::string text_of_marks(const std::map<std::string, uint64_t>& marks) {
  std::string text = kHead;
  for (const auto& [name, mark] : marks) text += name + " " + std::to_string(mark) + "\n";
  return text + kEnd;
}

std::map<std::string, uint64_t> parse(std::string_view text, const std::string& path) {
  if (!text.starts_with(kHead) || !text.ends_with(kEnd))
    refuse(path, "is cut or no file of counters");
  std::map<std::string, uint64_t> marks;
  std::istringstream lines(std::string(text.substr(std::string_view(kHead).size())));
  std::string line;
  while (std::getline(lines, line) && line != "end") {
    const size_t blank = line.rfind(' ');
    uint64_t mark = 0;
    const char* const end = line.data() + line.size();
    const auto parsed = std::from_chars(line.data() + std::min(line.size(), blank + 1), end, mark);
    if (blank == std::string::npos || parsed.ec != std::errc() || parsed.ptr != end) {
      refuse(path, "a line is not CHECK_VALUE SOURCE MARK");
    }
    marks[line.substr(0, blank)] = mark;
  }
  return marks;
}

// This process is one of those that share the file, and may read and replace it.
class Turn {
 public:
  explicit Turn(const std::string& path)
      : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)) {
    if (file_ < 0) refuse(path, "cannot be opened");
    try {
      check_secret_file(file_, path);  // another user could keep it locked
      lock(path);
    } catch (const KeyFileError&) {
      close(file_);
      throw;
    }
  }
  ~Turn() { close(file_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  // A turn takes about a millisecond. A process that is stopped in its own must not stop all
  // others.
  static constexpr int kTries = 2000;

  void lock(const std::string& path) const {
    for (int i = 0; i < kTries; ++i) {
      if (flock(file_, LOCK_EX | LOCK_NB) == 0) return;
      if (errno != EWOULDBLOCK && errno != EINTR) refuse(path, "cannot be locked");
      usleep(1000);
    }
    refuse(path, "is locked by another process");
  }

  int file_;
};

}  // namespace

void CounterMarks::create(const std::string& path) {
  if (access(path.c_str(), F_OK) == 0) refuse(path, "is there already");
  replace_secret_file(path, text_of_marks({}));
}

CounterMarks::CounterMarks(const std::string& path) : path_(path) {
  (void)parse(read_secret_file(path_).view(), path_);
}

Reserved CounterMarks::reserve(const std::string& check_value, const std::string& source,
                               uint64_t first, uint64_t count) const {
  const Turn turn(path_ + ".lock");  // the file itself is replaced
  auto marks = parse(read_secret_file(path_).view(), path_);
  uint64_t& mark = marks[check_value + " " + source];
  Reserved reserved;
  reserved.from = std::max(mark, first);
  reserved.until = mark = reserved.from + count;
  replace_secret_file(path_, text_of_marks(marks));
  return reserved;
}

}  // namespace uet::keys
