// Calls of the kernel that wait, at the same time: opening a ring and closing a packet socket take
// 10 to 30 ms each, in which the kernel waits for its processors one after the other.
#pragma once

#include <functional>

namespace uet::io {

// Both have run when it returns: in a thread each, where a thread is to be had. They must not
// throw, nor touch the same things.
void run_together(const std::function<void()>& one, const std::function<void()>& other);

}  // namespace uet::io
