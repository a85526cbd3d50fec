// Files with secrets, read and replaced as a whole.
#pragma once

#include "keys/secret_text.h"

#include <string>
#include <string_view>

namespace uet::keys {

constexpr size_t kFileBytesMax = size_t{4} << 20;

// Throws KeyFileError when it cannot be read, is not a regular file, is not owned by the effective
// user, or when group or others have any right to it.
SecretText read_secret_file(const std::string& path);

// Throws KeyFileError when the open file is not a regular file, is not owned by the effective user,
// or when group or others have any right to it.
void check_secret_file(int file, const std::string& path);

// Writes a new file with mode 0600 beside it, makes it durable, and replaces the old one, which
// stays unchanged on an error. Throws KeyFileError.
void replace_secret_file(const std::string& path, std::string_view text);

}  // namespace uet::keys
