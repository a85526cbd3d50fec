// The only place of the virtual function table, which differs between files with and without RTTI.
#include "base/random_source.h"

namespace uet {

uint64_t SeededRandom::u64() { return rng_.u64(); }

}  // namespace uet
