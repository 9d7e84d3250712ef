#include "visible_devices.h"

#include "backend.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <unordered_set>

namespace emulated {
namespace {

// The text before the next comma, which is taken off the list.
std::string_view next(std::string_view& list) {
  const auto comma = std::min(list.find(','), list.size());
  const auto entry = list.substr(0, comma);
  list.remove_prefix(std::min(comma + 1, list.size()));
  return entry;
}

// The number at the text's begin, or `otherwise` where there is none or it is too large.
int number(std::string_view text, int otherwise) {
  int value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

#ifdef EMULATED_CUDA

// Ids in any order; the list ends at the first that doesn't exist, and a repeated one empties it.
int count(std::string_view list, int physical) {
  std::unordered_set<int> seen;
  while (!list.empty()) {
    auto entry = next(list);
    entry.remove_prefix(std::min(entry.find_first_not_of(' '), entry.size()));
    const int id = number(entry, -1);
    if (id < 0 || id >= physical) {
      break;
    }
    if (!seen.insert(id).second) {
      return 0;
    }
  }
  return static_cast<int>(seen.size());
}

#else

// Digits and commas up to the first other character; ids must ascend, or none is visible; the list
// ends at the first id that doesn't exist.
int count(std::string_view list, int physical) {
  list = list.substr(0, std::min(list.find_first_not_of("0123456789,"), list.size()));
  int visible = 0;
  int previous = -1;
  while (!list.empty()) {
    const auto entry = next(list);
    if (entry.empty()) {
      break;
    }
    const int id = number(entry, physical);
    if (id <= previous) {
      return 0;
    }
    if (id >= physical) {
      break;
    }
    previous = id;
    ++visible;
  }
  return visible;
}

#endif

} // namespace

int visible_count(int physical) {
  const char* list = std::getenv(EMULATED_VISIBLE_DEVICES);
  return list == nullptr ? physical : count(list, physical);
}

} // namespace emulated
