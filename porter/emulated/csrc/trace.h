// A record of what was asked of the devices, for comparing two runs call by call.
#pragma once

#include <c10/util/StringUtil.h>

#include <string>

namespace emulated {

// Whether EMULATED_TRACE names a file to record in.
bool is_traced();
void write_trace(const std::string& line);

// Appends a line to the record.
template <class... Parts>
void trace(const Parts&... parts) {
  if (is_traced()) {
    write_trace(c10::str(parts...));
  }
}

} // namespace emulated
