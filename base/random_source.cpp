// One place for the table of virtual functions, which differs between files with and without RTTI.
#include "base/random_source.h"

namespace uet {

uint64_t SeededRandom::u64() { return rng_.u64(); }

}  // namespace uet
