// When the application counts as away, so that the helper thread runs the engine in its place.
// [architecture 5]
#pragma once

#include "base/time.h"

namespace uet::prov {

// No thread has visited the engine for this long.
inline constexpr Duration kAbsence = Duration::milliseconds(1);
// The same for an application that polled all the time. While more than 4 ms of it are left the
// timer ends after the kernel's next clock interrupt (where that comes 250 times a second or more
// often), so putting it off then costs a microsecond; a timer before that interrupt is set in
// hardware each time, 30 us on a virtual machine. And it must end before peers resend unanswered
// packets, by default after 5 ms; if they resend sooner, kAbsence applies. [PDS-140, PDS-145]
inline constexpr Duration kSteadyAbsence = Duration::microseconds(4500);
// Visits that take a completion receive at most this often: acknowledgements make room, and peers
// wait for window.
inline constexpr Duration kUnattended = Duration::microseconds(50);
// The same for visits that post: a poll mostly follows, and packets received together are answered
// in fewer packets. After 50 us, fi_rma_bw took twice as long for reads of 4 KiB.
inline constexpr Duration kUnattendedPosts = kAbsence;
// How long after it was started a visit puts the timer off.
inline constexpr Duration kPutOff = kAbsence / 2;
inline constexpr Duration kSteadyPutOff = Duration::microseconds(300);

}  // namespace uet::prov
