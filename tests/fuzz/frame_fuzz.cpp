// Any bytes, cut anywhere, are scanned into frames that lie inside the input and cover it without
// gaps, up to the first that is cut or refused.
#include <cstdlib>

#include "transport/amqp091/frame.hpp"

using namespace baton;
using namespace baton::amqp091;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  byte_view bytes{data, size};
  while (!bytes.empty()) {
    const auto scanned = scan_frame(bytes, frame_min_size);
    if (scanned.status == scan_status::cut && scanned.size <= bytes.size()) std::abort();
    if (scanned.status != scan_status::whole) break;
    const auto& payload = scanned.found.payload;
    if (payload.data() != bytes.data() + frame_header_size) std::abort();
    if (payload.size() + frame_overhead != scanned.size || scanned.size > bytes.size())
      std::abort();
    bytes = bytes.subspan(scanned.size);
  }
  return 0;
}
