#include "trace.h"

#include <c10/util/Exception.h>

#include <cstdlib>
#include <fstream>
#include <mutex>

namespace emulated {

bool is_traced() {
  static const bool traced = std::getenv("EMULATED_TRACE") != nullptr;
  return traced;
}

void write_trace(const std::string& line) {
  static std::mutex writing;
  const std::lock_guard<std::mutex> lock(writing);
  static std::ofstream file(std::getenv("EMULATED_TRACE"), std::ios::app);
  file << line << std::endl; // flushed, for a process may end without destructors
  TORCH_CHECK(file.good(), "EMULATED_TRACE: can't write to ", std::getenv("EMULATED_TRACE"));
}

} // namespace emulated
