// Any method payload is refused, or is a method that is encoded to a payload which decodes to the
// same bytes again. (Not to the input: a bool's unused bits may be anything there.)
#include <algorithm>
#include <cstdlib>

#include "transport/amqp091/frame_errors.hpp"

using namespace baton;
using namespace baton::amqp091;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const byte_view payload{data, size};
  output_buffer once;
  output_buffer twice;
  const auto status =
      visit_method(payload, [&](const auto& method) { encode_payload(once, method); });
  if (status != decode_status::ok) {
    if (reply_text(bad_method_error(status, payload)).size() > 255) std::abort();
    return 0;
  }
  if (once.size() != size) std::abort();
  visit_method(once.view(), [&](const auto& method) { encode_payload(twice, method); });
  if (!std::ranges::equal(once.view(), twice.view())) std::abort();
  return 0;
}
