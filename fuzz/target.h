// The function of every fuzz target: takes any octets and aborts when a property of the code under
// test does not hold. libFuzzer calls it with generated input, replay with the corpus.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* octets, size_t size);
