#include "cli/perf/wire.hpp"

#include <algorithm>

#include "config/check.hpp"

namespace baton::perf::wire {
namespace {

template <class Number>
void append(std::string& out, Number value, std::size_t bytes) {
  for (std::size_t i = bytes; i-- > 0;)
    out.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i)));
}

void table_entry(std::string& table, std::string_view name, char type, std::string_view value) {
  append(table, name.size(), 1);
  table.append(name).push_back(type);
  table.append(value);
}

}  // namespace

frame_writer::frame_writer(std::string& out, std::uint16_t channel, frame_type type)
    : out_{out}, size_at_{out.size() + 3} {
  out_.push_back(static_cast<char>(type));
  u16(channel).u32(0);
}

frame_writer::frame_writer(std::string& out, std::uint16_t channel, method id)
    : frame_writer{out, channel, frame_type::method} {
  u32(static_cast<std::uint32_t>(id));
}

frame_writer::~frame_writer() {
  const std::size_t size = out_.size() - size_at_ - 4;
  for (std::size_t i = 0; i < 4; ++i) out_[size_at_ + i] = static_cast<char>(size >> (8 * (3 - i)));
  out_.push_back(static_cast<char>(frame_end));
}

frame_writer& frame_writer::u8(std::uint8_t value) {
  append(out_, value, 1);
  return *this;
}
frame_writer& frame_writer::u16(std::uint16_t value) {
  append(out_, value, 2);
  return *this;
}
frame_writer& frame_writer::u32(std::uint32_t value) {
  append(out_, value, 4);
  return *this;
}
frame_writer& frame_writer::u64(std::uint64_t value) {
  append(out_, value, 8);
  return *this;
}
frame_writer& frame_writer::short_text(std::string_view text) {
  BATON_CHECK(text.size() <= 255);
  append(out_, text.size(), 1);
  out_.append(text);
  return *this;
}
frame_writer& frame_writer::long_text(std::string_view text) {
  append(out_, text.size(), 4);
  out_.append(text);
  return *this;
}
frame_writer& frame_writer::raw(std::string_view bytes) {
  out_.append(bytes);
  return *this;
}

void start_ok(std::string& out, std::string_view user, std::string_view password) {
  const std::string yes{"\x01", 1};
  std::string capabilities;
  for (const auto* name : {"connection.blocked", "authentication_failure_close",
                           "consumer_cancel_notify", "basic.nack", "publisher_confirms"})
    table_entry(capabilities, name, 't', yes);

  std::string product;
  append(product, std::string_view{"baton perf"}.size(), 4);
  product += "baton perf";
  std::string nested;
  append(nested, capabilities.size(), 4);
  nested += capabilities;
  std::string properties;
  table_entry(properties, "product", 'S', product);
  table_entry(properties, "capabilities", 'F', nested);

  std::string response{'\0'};
  response.append(user).push_back('\0');
  response.append(password);
  frame_writer{out, 0, method::connection_start_ok}
      .long_text(properties)
      .short_text("PLAIN")
      .long_text(response)
      .short_text("en_US");
}

void tune_ok(std::string& out, std::uint16_t channel_max, std::uint32_t frame_max) {
  frame_writer{out, 0, method::connection_tune_ok}.u16(channel_max).u32(frame_max).u16(0);
}

void connection_open(std::string& out, std::string_view virtual_host) {
  frame_writer{out, 0, method::connection_open}.short_text(virtual_host).short_text("").u8(0);
}

void connection_close(std::string& out) {
  frame_writer{out, 0, method::connection_close}.u16(200).short_text("done").u32(0);
}

void plain(std::string& out, std::uint16_t channel, method id, int empty_texts) {
  frame_writer writer{out, channel, id};
  for (int i = 0; i < empty_texts; ++i) writer.short_text("");
}

void channel_close(std::string& out, std::uint16_t channel) {
  frame_writer{out, channel, method::channel_close}.u16(200).short_text("done").u32(0);
}

void exchange_declare(std::string& out, std::uint16_t channel, std::string_view name,
                      std::string_view type, bool durable) {
  frame_writer{out, channel, method::exchange_declare}
      .u16(0)
      .short_text(name)
      .short_text(type)
      .u8(durable ? 2 : 0)
      .u32(0);
}

void exchange_delete(std::string& out, std::uint16_t channel, std::string_view name) {
  frame_writer{out, channel, method::exchange_delete}.u16(0).short_text(name).u8(0);
}

void queue_declare(std::string& out, std::uint16_t channel, std::string_view name,
                   queue_flags flags, std::string_view type) {
  const int bits = flags.durable * 2 + flags.exclusive * 4 + flags.auto_delete * 8;
  frame_writer frame{out, channel, method::queue_declare};
  frame.u16(0).short_text(name).u8(static_cast<std::uint8_t>(bits));
  constexpr std::string_view argument = "x-queue-type";
  if (type.empty()) {
    frame.u32(0);
    return;
  }
  frame.u32(static_cast<std::uint32_t>(1 + argument.size() + 1 + 4 + type.size()))
      .short_text(argument)
      .u8('S')
      .long_text(type);
}

void queue_delete(std::string& out, std::uint16_t channel, std::string_view name) {
  frame_writer{out, channel, method::queue_delete}.u16(0).short_text(name).u8(0);
}

void queue_bind(std::string& out, std::uint16_t channel, std::string_view queue,
                std::string_view exchange, std::string_view key, bool no_wait) {
  frame_writer{out, channel, method::queue_bind}
      .u16(0)
      .short_text(queue)
      .short_text(exchange)
      .short_text(key)
      .u8(no_wait ? 1 : 0)
      .u32(0);
}

void queue_unbind(std::string& out, std::uint16_t channel, std::string_view queue,
                  std::string_view exchange, std::string_view key) {
  frame_writer{out, channel, method::queue_unbind}
      .u16(0)
      .short_text(queue)
      .short_text(exchange)
      .short_text(key)
      .u32(0);
}

void confirm_select(std::string& out, std::uint16_t channel) {
  frame_writer{out, channel, method::confirm_select}.u8(0);
}

void qos(std::string& out, std::uint16_t channel, std::uint16_t prefetch) {
  frame_writer{out, channel, method::basic_qos}.u32(0).u16(prefetch).u8(0);
}

void consume(std::string& out, std::uint16_t channel, std::string_view queue, std::string_view tag,
             bool no_ack) {
  frame_writer{out, channel, method::basic_consume}
      .u16(0)
      .short_text(queue)
      .short_text(tag)
      .u8(no_ack ? 2 : 0)
      .u32(0);
}

void ack(std::string& out, std::uint16_t channel, std::uint64_t delivery_tag, bool multiple) {
  frame_writer{out, channel, method::basic_ack}.u64(delivery_tag).u8(multiple ? 1 : 0);
}

std::size_t publish(std::string& out, const publish_form& form, std::size_t body_size,
                    std::size_t frame_max) {
  frame_writer{out, form.channel, method::basic_publish}
      .u16(0)
      .short_text(form.exchange)
      .short_text(form.key)
      .u8(form.mandatory ? 1 : 0);
  constexpr std::uint16_t basic_class = 60, delivery_mode_flag = 1 << 12;
  frame_writer{out, form.channel, frame_type::header}
      .u16(basic_class)
      .u16(0)
      .u64(body_size)
      .u16(delivery_mode_flag)
      .u8(form.persistent ? 2 : 1);
  const std::size_t body_at = body_size == 0 ? out.size() : out.size() + frame_overhead - 1;
  for (std::size_t left = body_size; left > 0;) {
    const std::size_t part = std::min(left, frame_max - frame_overhead);
    frame_writer{out, form.channel, frame_type::body}.raw(std::string(part, 'b'));
    left -= part;
  }
  return body_at;
}

std::string close_text(byte_view payload) {
  if (payload.size() < 7) return "no reason given";
  const std::size_t length = std::min<std::size_t>(payload[6], payload.size() - 7);
  return std::to_string(read_u16(payload.data() + 4)) + " " +
         std::string{as_text(payload.subspan(7, length))};
}

}  // namespace baton::perf::wire
