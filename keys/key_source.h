// Where a process gets its keys from, and whether there are new ones: a key file, or a key agent
// (keys/agent_source.h). Keyring does the rest, in one way for all sources.
#pragma once

#include "keys/file_watch.h"
#include "keys/key_file.h"

#include "base/time.h"

#include <cstdint>
#include <string>
#include <utility>

namespace uet::keys {

class KeySource {
 public:
  virtual ~KeySource() = default;
  KeySource(const KeySource&) = delete;
  KeySource& operator=(const KeySource&) = delete;

  // The newest keys that there are. Throws KeyFileError.
  virtual KeyFile read() = 0;
  // Whether read() has something that was not there at the last call. Never waits; a few system
  // calls. Throws KeyFileError once when the source fails: the keys of before stay good then.
  virtual bool has_news(Instant now) = 0;
  // How often the source failed while keys were in use.
  virtual uint64_t losses() const { return 0; }

  // The path, for messages.
  const std::string& name() const { return name_; }

 protected:
  explicit KeySource(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

class FileSource final : public KeySource {
 public:
  explicit FileSource(const std::string& path) : KeySource(path), watch_(path) {}
  KeyFile read() override { return read_key_file(name()); }
  bool has_news(Instant) override { return watch_.has_changed(); }

 private:
  FileWatch watch_;
};

}  // namespace uet::keys
