#include <idgen/library/leased_generator.h>
#include <iostream>

int main(int, char** argv) {
  auto ids = evenkeel::idgen::LeasedGenerator::open({.settings = {.name = "orders"}, .directory = argv[1]});
  if (!ids) return std::cerr << ids.error().message << '\n', 1;
  for (int i = 0; i < 3; ++i)
    if (auto id = (*ids)->next()) std::cout << *id << " of " << (*ids)->decode(*id)->time << '\n';
}
