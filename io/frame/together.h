// Calls of the kernel that wait, at the same time: opening a ring and closing a packet socket take
// 10 to 30 ms each, in which the kernel waits for its processors one after the other.
#pragma once

#include <functional>

namespace uet::io {

// Returns when both have run: in a thread each, if possible. They must not throw, nor share data.
void run_together(const std::function<void()>& one, const std::function<void()>& other);

}  // namespace uet::io
