#pragma once

#include "transport/amqp091/basic_methods.hpp"
#include "transport/amqp091/connection_methods.hpp"
#include "transport/amqp091/frame.hpp"
#include "transport/amqp091/topology_methods.hpp"

/// Every method of AMQP 0-9-1 and RabbitMQ's extensions: encoding, decoding and dispatch, all
/// derived from the structs.
namespace baton::amqp091 {

template <class... Methods>
struct method_list {};

/// A method that is not in here does not exist for either end. They are looked for in this order:
/// those that come with every message stand in front.
using all_methods = method_list<
    methods::basic_ack, methods::basic_publish, methods::basic_deliver, methods::basic_nack,
    methods::basic_reject, methods::basic_get, methods::basic_get_ok, methods::connection_start,
    methods::connection_start_ok, methods::connection_secure, methods::connection_secure_ok,
    methods::connection_tune, methods::connection_tune_ok, methods::connection_open,
    methods::connection_open_ok, methods::connection_close, methods::connection_close_ok,
    methods::connection_blocked, methods::connection_unblocked, methods::connection_update_secret,
    methods::connection_update_secret_ok, methods::channel_open, methods::channel_open_ok,
    methods::channel_flow, methods::channel_flow_ok, methods::channel_close,
    methods::channel_close_ok, methods::access_request, methods::access_request_ok,
    methods::exchange_declare, methods::exchange_declare_ok, methods::exchange_delete,
    methods::exchange_delete_ok, methods::exchange_bind, methods::exchange_bind_ok,
    methods::exchange_unbind, methods::exchange_unbind_ok, methods::queue_declare,
    methods::queue_declare_ok, methods::queue_bind, methods::queue_bind_ok, methods::queue_purge,
    methods::queue_purge_ok, methods::queue_delete, methods::queue_delete_ok, methods::queue_unbind,
    methods::queue_unbind_ok, methods::basic_qos, methods::basic_qos_ok, methods::basic_consume,
    methods::basic_consume_ok, methods::basic_cancel, methods::basic_cancel_ok,
    methods::basic_return, methods::basic_get_empty, methods::basic_recover_async,
    methods::basic_recover, methods::basic_recover_ok, methods::confirm_select,
    methods::confirm_select_ok, methods::tx_select, methods::tx_select_ok, methods::tx_commit,
    methods::tx_commit_ok, methods::tx_rollback, methods::tx_rollback_ok>;

enum class decode_status { ok, unknown_method, malformed, malformed_utf8 };

namespace detail {

class field_decoder {
public:
  explicit field_decoder(byte_view arguments) noexcept : from_{arguments} {}

  template <class... Fields>
  void operator()(Fields&&... fields) {
    (take(fields), ...);
  }
  /// Left-over bytes are as wrong as missing ones.
  decode_status status() const noexcept {
    if (!from_.at_end()) return decode_status::malformed;
    return utf8_ ? decode_status::ok : decode_status::malformed_utf8;
  }

private:
  void take(bool& field) {
    if (bits_used_ == 0) bits_ = from_.u8();
    field = (bits_ >> bits_used_ & 1) != 0;
    bits_used_ = (bits_used_ + 1) % 8;
  }
  template <class Field>
  void take(Field& field) {
    bits_used_ = 0;
    get(field);
  }
  void get(std::uint8_t& field) { field = from_.u8(); }
  void get(std::uint16_t& field) { field = from_.u16(); }
  void get(std::uint32_t& field) { field = from_.u32(); }
  void get(std::uint64_t& field) { field = from_.u64(); }
  void get(byte_view& field) { field = from_.long_string(); }
  void get(std::string_view& field) {
    field = from_.short_string();
    utf8_ = utf8_ && is_utf8(field);
  }
  void get(methods::any_bytes<std::string_view>& field) { field.text = from_.short_string(); }
  void get(table_view& field) {
    field.entries = from_.long_string();
    if (!is_valid_table(field.entries)) from_.fail();
  }

  reader from_;
  std::uint8_t bits_ = 0;
  std::uint8_t bits_used_ = 0;
  bool utf8_ = true;
};

class field_encoder {
public:
  explicit field_encoder(output_buffer& out) noexcept : out_{out} {}

  template <class... Fields>
  void operator()(Fields&&... fields) {
    (put(fields), ...);
    flush_bits();
  }

private:
  void put(const bool& field) {
    if (bits_used_ == 8) flush_bits();
    bits_ = static_cast<std::uint8_t>(bits_ | field << bits_used_++);
  }
  template <class Field>
  void put(const Field& field) {
    flush_bits();
    append(field);
  }
  void append(std::uint8_t field) { out_.append_number(field); }
  void append(std::uint16_t field) { out_.append_number(field); }
  void append(std::uint32_t field) { out_.append_number(field); }
  void append(std::uint64_t field) { out_.append_number(field); }
  void append(byte_view field) { out_.append_long_string(field); }
  void append(std::string_view field) { out_.append_short_string(field); }
  void append(methods::any_bytes<const std::string_view> field) {
    out_.append_short_string(field.text);
  }
  void append(table_view field) { out_.append_long_string(field.entries); }
  void flush_bits() {
    if (bits_used_ == 0) return;
    out_.append_number(bits_);
    bits_ = bits_used_ = 0;
  }

  output_buffer& out_;
  std::uint8_t bits_ = 0;
  std::uint8_t bits_used_ = 0;
};

template <class Visitor, class... Methods>
decode_status visit_listed(method_list<Methods...>, std::uint32_t id, byte_view arguments,
                           Visitor& visitor) {
  auto status = decode_status::unknown_method;
  const auto visit = [&]<class Method>(Method method) {
    field_decoder decoder{arguments};
    Method::fields(method, decoder);
    status = decoder.status();
    if (status == decode_status::ok) visitor(std::as_const(method));
  };
  static_cast<void>(((id == methods::id_of<Methods> && (visit(Methods{}), true)) || ...));
  return status;
}

}  // namespace detail

/// Class id and method id of a method frame's payload as one number, like `methods::id_of`; 0 when
/// the payload is too short to have one.
inline std::uint32_t method_id_of(byte_view payload) noexcept {
  return payload.size() < 4 ? 0 : load<std::uint32_t>(payload.data());
}

/// Decodes the arguments (the payload behind the two ids) of a known method.
template <class Method>
decode_status decode_arguments(byte_view arguments, Method& method) {
  detail::field_decoder decoder{arguments};
  Method::fields(method, decoder);
  return decoder.status();
}

/// Decodes a method frame's payload and calls `visitor(const Method&)` with the struct that it is.
/// The visitor is not called unless the status is ok.
template <class Visitor>
decode_status visit_method(byte_view payload, Visitor&& visitor) {
  if (payload.size() < 4) return decode_status::malformed;
  return detail::visit_listed(all_methods{}, method_id_of(payload), payload.subspan(4), visitor);
}

/// Appends a method's payload: its ids and arguments, without a frame around them.
template <class Method>
void encode_payload(output_buffer& out, const Method& method) {
  out.append_number(methods::id_of<Method>);
  Method::fields(method, detail::field_encoder{out});
}

/// Appends one whole method frame. Short strings are cut to 255 bytes.
template <class Method>
void encode_method(output_buffer& out, std::uint16_t channel, const Method& method) {
  const auto start = out.size();
  std::uint8_t* to = store(out.reserve(frame_header_size), frame_type::method);
  out.commit(store(store(to, channel), std::uint32_t{0}));
  encode_payload(out, method);
  out.patch_u32(start + 3, static_cast<std::uint32_t>(out.size() - start - frame_header_size));
  out.append_number(frame_end);
}

}  // namespace baton::amqp091
