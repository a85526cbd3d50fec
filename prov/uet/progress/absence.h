// When the application counts as away, so that the helper thread runs the engine in its place.
// [architecture 5]
#pragma once

#include "base/time.h"

namespace uet::prov {

// Nobody has visited the engine for this long.
inline constexpr Duration kAbsence = Duration::milliseconds(1);
// The same of an application that had looked all the time. While more than 4 ms of it are left the
// timer ends after the kernel's next clock interrupt (where that comes 250 times a second or more
// often), so putting it off then costs a microsecond; a timer before that interrupt is set in
// hardware each time, 30 us on a virtual machine. And it must end before peers send again what
// nobody answers, by default after 5 ms; where that is sooner kAbsence counts. [PDS-140, PDS-145]
inline constexpr Duration kSteadyAbsence = Duration::microseconds(4500);
// Visits that take what is there receive after so long: acknowledgements make room, and their peers
// wait for what the window held back.
inline constexpr Duration kUnattended = Duration::microseconds(50);
// The same of visits that post: a look mostly follows, and what is received together is answered in
// fewer packets. After 50 us, fi_rma_bw took twice as long for reads of 4 KiB.
inline constexpr Duration kUnattendedPosts = kAbsence;
// How long after it was started a visit puts the timer off.
inline constexpr Duration kPutOff = kAbsence / 2;
inline constexpr Duration kSteadyPutOff = Duration::microseconds(300);

}  // namespace uet::prov
