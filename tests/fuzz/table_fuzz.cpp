// Any bytes as a table: checking and decoding agree; what decodes is encoded to the same bytes (but
// for L, which becomes l, and bools other than 0 and 1). The same bytes as properties: checking and
// decoding agree, and edits leave valid properties.
#include <cstdlib>

#include "transport/amqp091/properties.hpp"

using namespace baton;
using namespace baton::amqp091;

namespace {

void check_table(byte_view bytes) {
  const auto table = decode_table(bytes);
  if (static_cast<bool>(table) != is_valid_table(bytes)) std::abort();
  if (!table) return;
  output_buffer out;
  encode_table(out, *table);
  if (out.size() != bytes.size() + 4 || !is_valid_table(out.view().subspan(4))) std::abort();
  for (const auto& [name, value] : *table) {
    if (!find_in_table(bytes, name)) std::abort();
    if (describe(value).empty()) std::abort();
  }
}

void check_properties(byte_view bytes) {
  const auto properties = decode_properties(bytes);
  if (properties.has_value() != are_valid_properties(bytes)) std::abort();
  if (!properties) return;
  output_buffer same;
  encode_properties(same, *properties);
  if (as_text(same.view()) != as_text(bytes)) std::abort();
  properties_editor editor{bytes};
  editor.remove_header("a");
  editor.set_header("b", field_value{true});
  editor.set_reply_to("somewhere");
  editor.remove_expiration();
  output_buffer edited;
  editor.finish(edited);
  const auto after = decode_properties(edited.view());
  if (!after || after->header("a") || !after->header("b") || after->reply_to != "somewhere")
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_table({data, size});
  check_properties({data, size});
  return 0;
}
