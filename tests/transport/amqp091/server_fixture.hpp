#pragma once

#include <string>

#include "tests/transport/amqp091/recording_handler.hpp"
#include "transport/amqp091/frame.hpp"

namespace baton::amqp091::test {

/// Frames as a client would write them.
class frames {
public:
  frames() = default;
  frames(frames&&) = default;
  frames(const frames& other) { bytes(other.view()); }

  template <class Method>
  frames& method(std::uint16_t channel, const Method& method) {
    encode_method(out_, channel, method);
    return *this;
  }
  frames& header(std::uint16_t channel, std::uint64_t body_size, byte_view properties = none(),
                 std::uint16_t class_id = 60, std::uint16_t weight = 0) {
    output_buffer payload;
    payload.append_number(class_id);
    payload.append_number(weight);
    payload.append_number(body_size);
    payload.append(properties);
    return raw(frame_type::header, channel, as_text(payload.view()));
  }
  frames& body(std::uint16_t channel, std::string_view bytes) {
    return raw(frame_type::body, channel, bytes);
  }
  frames& raw(std::uint8_t type, std::uint16_t channel, std::string_view payload,
              std::uint8_t end = frame_end) {
    out_.append_number(type);
    out_.append_number(channel);
    out_.append_long_string(as_bytes(payload));
    out_.append_number(end);
    return *this;
  }
  frames& publish(std::uint16_t channel, std::string_view key, std::string_view bytes,
                  std::size_t piece = 100'000) {
    method(channel, methods::basic_publish{.exchange = "ex", .routing_key = key});
    header(channel, bytes.size());
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
      body(channel, bytes.substr(0, piece));
    return *this;
  }
  frames& heartbeat() { return raw(frame_type::heartbeat, 0, ""); }
  frames& bytes(byte_view more) {
    out_.append(more);
    return *this;
  }
  byte_view view() const { return out_.view(); }

  static byte_view none() { return no_properties; }

private:
  output_buffer out_;
};

/// Every method in the bytes by name, closes with their reason: what a client would see.
inline std::string answers_in(output_buffer& out) {
  std::string all;
  byte_view bytes = out.view();
  while (!bytes.empty()) {
    if (!all.empty()) all += "\n";
    if (bytes[0] == 'A') {
      all += "protocol header";
      bytes = bytes.subspan(8);
      continue;
    }
    const auto scanned = scan_frame(bytes, 1 << 20);
    if (scanned.status != scan_status::whole) return all + "BROKEN";
    all += std::to_string(scanned.found.channel) + " ";
    if (scanned.found.type != frame_type::method)
      all += "frame of type " + std::to_string(scanned.found.type);
    else
      visit_method(scanned.found.payload, [&]<class Method>(const Method& method) {
        all += Method::name;
        if constexpr (requires { method.failed_class; })
          all += " " + std::to_string(method.reply_code) + " " +
                 std::to_string(method.failed_class) + "," + std::to_string(method.failed_method) +
                 " " + std::string{method.reply_text};
      });
    bytes = bytes.subspan(scanned.size);
  }
  out.clear();
  return all;
}

/// A server's machine with a handler that writes down its calls.
struct server_fixture {
  server_settings settings{.properties = server_properties("Baton", "1", "test")};
  output_buffer out;
  recording_handler handler;
  server_connection machine{settings, handler, out};

  server_fixture() { handler.machine = &machine; }

  void feed(byte_view bytes) { machine.feed(bytes); }
  void feed(const frames& input) { machine.feed(input.view()); }
  std::string calls() { return handler.take(); }
  std::string answers() { return answers_in(out); }

  static frames start_ok(byte_view client_properties = {}, std::string_view mechanism = "PLAIN",
                         std::string_view response = std::string_view{"\0guest\0secret", 13}) {
    return frames{}.method(0, methods::connection_start_ok{.client_properties = {client_properties},
                                                           .mechanism = mechanism,
                                                           .response = as_bytes(response),
                                                           .locale = "en_US"});
  }
  static frames tune_ok(std::uint16_t channel_max = 2047, std::uint32_t frame_max = 131072,
                        std::uint16_t heartbeat = 60) {
    return frames{}.method(
        0, methods::connection_tune_ok{
               .channel_max = channel_max, .frame_max = frame_max, .heartbeat = heartbeat});
  }
  static frames open(std::string_view virtual_host = "/") {
    return frames{}.method(0, methods::connection_open{.virtual_host = virtual_host});
  }

  /// Handshake, and AMQP channel 1; what was called and answered until then is forgotten.
  void run(byte_view client_properties = {}, std::uint16_t channel_max = 2047,
           std::uint32_t frame_max = 131072) {
    feed(protocol_header);
    feed(start_ok(client_properties));
    feed(tune_ok(channel_max, frame_max));
    feed(open());
    feed(frames{}.method(1, methods::channel_open{}));
    calls();
    answers();
  }
};

}  // namespace baton::amqp091::test
