#include "base/random.h"

#include <bit>
#include <cstdlib>
#include <sys/random.h>

namespace evenkeel {

uint64_t Random::below(uint64_t bound) {
  // Lemire's multiply-shift with rejection.
  unsigned __int128 product = static_cast<unsigned __int128>(next()) * bound;
  auto low = static_cast<uint64_t>(product);
  if (low < bound) {
    const uint64_t threshold = -bound % bound;
    while (low < threshold) {
      product = static_cast<unsigned __int128>(next()) * bound;
      low = static_cast<uint64_t>(product);
    }
  }
  return static_cast<uint64_t>(product >> 64);
}

uint64_t mix64(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

SeededRandom::SeededRandom(uint64_t seed) {
  for (auto& word : state_) word = mix64(seed += 0x9e3779b97f4a7c15ULL);
}

uint64_t SeededRandom::next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

void fill_secure(std::span<std::byte> out) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = getrandom(out.data() + done, out.size() - done, 0);
    if (got > 0) done += static_cast<size_t>(got);
  }
}

uint64_t system_seed() {
  uint64_t seed = 0;
  fill_secure(std::as_writable_bytes(std::span(&seed, 1)));
  return seed;
}

}  // namespace evenkeel
