// Randomness, injected. Seeded everywhere but in `serve`, where the seed comes from the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace evenkeel {

// Not thread-safe: one per thread or per owner.
class Random {
 public:
  virtual ~Random() = default;
  virtual uint64_t next() = 0;

  // Uniform in [0, bound), without modulo bias; bound > 0.
  uint64_t below(uint64_t bound);
};

// xoshiro256** by Blackman and Vigna (public domain algorithm), seeded through splitmix64.
// Fast and repeatable; not for secrets.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(uint64_t seed);
  uint64_t next() override;

 private:
  uint64_t state_[4];
};

// splitmix64's finaliser: a good 64-bit mix, used for seeds and for keyed permutations.
uint64_t mix64(uint64_t value);

// A seed from the operating system.
uint64_t system_seed();

// For salts, passwords and keys: the operating system's generator. Fills all of `out`.
void fill_secure(std::span<std::byte> out);

}  // namespace evenkeel
