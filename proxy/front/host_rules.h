// From where a user may come.
#pragma once

#include <string>
#include <vector>

namespace evenkeel::front {

// Whether `address` is one of `rules`, literals or prefixes such as 10.0.0.0/8; true when there are none.
bool host_allowed(const std::string& address, const std::vector<std::string>& rules);

}  // namespace evenkeel::front
