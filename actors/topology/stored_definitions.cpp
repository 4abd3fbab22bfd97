#include "actors/topology/stored_definitions.hpp"

#include <optional>
#include <utility>

#include "actors/topology/refusal.hpp"
#include "transport/amqp091/field_table.hpp"

namespace baton {

namespace {

using amqp091::output_buffer;
using amqp091::reader;

// README.md, "Definitions".
enum class kind : std::uint8_t { vhost = 1, exchange, queue, binding };
constexpr std::uint8_t to_exchange = 1, to_queue = 2;
constexpr std::uint8_t flag_auto_delete = 1, flag_internal = 2;
constexpr std::uint8_t value_version = 1;

/// So far no counter gets: ids and numbers from here on were not given by one.
constexpr std::uint64_t numbers_end = std::uint64_t{1} << 62;

/// The bytes of one key or value, in the order in which they are put.
class writer {
public:
  writer& byte(std::uint8_t value) { return number(value); }
  template <class Number>
  writer& number(Number value) {
    out_.append_number(value);
    return *this;
  }
  writer& text(std::string_view text) {
    out_.append_long_string(as_bytes(text));
    return *this;
  }
  writer& table(const field_table& table) {
    amqp091::encode_table(out_, table);
    return *this;
  }
  std::string take() const { return std::string{as_text(out_.view())}; }

private:
  output_buffer out_;
};

writer key_of_kind(kind of) {
  writer made;
  made.byte(static_cast<std::uint8_t>(of));
  return made;
}

writer new_value() {
  writer made;
  made.byte(value_version);
  return made;
}

std::uint8_t number_of(exchange_type type) { return static_cast<std::uint8_t>(type) + 1; }

/// What is wrong with a definition, behind its name: "its key is cut short".
using complaint = std::string;

template <class T>
using decoded = result<T, complaint>;

failure<complaint> wrong(complaint what) { return failure{std::move(what)}; }

std::string read_text(reader& from) { return std::string{as_text(from.long_string())}; }

decoded<field_table> read_table(reader& from) {
  const byte_view entries = from.long_string();
  if (!from.ok()) return field_table{};  // whoever asks ok() says so
  auto table = amqp091::decode_table(entries);
  if (!table) return wrong("its arguments: " + table.reason().text);
  return *std::move(table);
}

/// Nothing if everything was there, and nothing beyond.
std::optional<complaint> unfinished(const reader& from, const char* what) {
  if (!from.ok()) return std::string{"its "} + what + " is cut short";
  if (!from.at_end()) return std::string{"its "} + what + " goes on where it should end";
  return std::nullopt;
}

std::optional<complaint> unnamed(std::string_view name, const char* what) {
  if (name.empty()) return std::string{"it names no "} + what;
  return std::nullopt;
}

/// Takes the key of a definition apart, but for the number of the kind.
decoded<stored_definition> read_key(kind of, reader& from) {
  switch (of) {
    case kind::vhost:
      return stored_definition{stored_vhost{read_text(from)}};
    case kind::exchange: {
      stored_exchange made;
      made.vhost = read_text(from);
      made.name = read_text(from);
      return stored_definition{std::move(made)};
    }
    case kind::queue: {
      stored_queue made;
      made.vhost = read_text(from);
      made.name = read_text(from);
      return stored_definition{std::move(made)};
    }
    case kind::binding: {
      stored_binding made;
      made.vhost = read_text(from);
      made.source = read_text(from);
      const std::uint8_t leads_to = from.u8();
      if (from.ok() && leads_to != to_exchange && leads_to != to_queue)
        return wrong("its key leads to a destination of kind " + std::to_string(leads_to));
      made.kind = leads_to == to_exchange ? resource_kind::exchange : resource_kind::queue;
      made.destination = read_text(from);
      made.routing_key = read_text(from);
      auto arguments = read_table(from);
      if (!arguments) return failure{std::move(arguments.reason())};
      made.arguments = *std::move(arguments);
      return stored_definition{std::move(made)};
    }
  }
  return wrong("its kind is " + std::to_string(static_cast<unsigned>(of)) +
               ", which this version does not know");
}

decoded<stored_definition> decode_key(std::string_view key) {
  reader from{as_bytes(key)};
  const auto of = static_cast<kind>(from.u8());
  if (!from.ok()) return wrong("its key is empty");
  auto made = read_key(of, from);
  if (!made) return made;
  if (auto what = unfinished(from, "key")) return wrong(*std::move(what));
  return made;
}

/// Reads what is behind a value's version into what its key said.
class value_decoder {
public:
  using outcome = std::optional<complaint>;

  explicit value_decoder(reader& from) : from_{from} {}

  outcome operator()(stored_vhost& into) { return unnamed(into.name, "virtual host"); }

  outcome operator()(stored_exchange& into) {
    const std::uint8_t type = from_.u8();
    if (from_.ok() && (type == 0 || type > number_of(exchange_type::headers)))
      return "its type is " + std::to_string(type) + ", which this version does not know";
    into.type = static_cast<exchange_type>(type - 1);
    if (auto what = flags(flag_auto_delete | flag_internal)) return what;
    into.auto_delete = (flags_ & flag_auto_delete) != 0;
    into.internal = (flags_ & flag_internal) != 0;
    if (auto what = arguments(into.arguments)) return what;
    return unnamed(into.name, "exchange");
  }

  outcome operator()(stored_queue& into) {
    into.id = queue_id{from_.u64()};
    if (from_.ok() && (into.id.value == 0 || into.id.value >= numbers_end))
      return "its id is " + std::to_string(into.id.value) + ", which no queue is given";
    if (auto what = flags(flag_auto_delete)) return what;
    into.auto_delete = (flags_ & flag_auto_delete) != 0;
    if (auto what = arguments(into.arguments)) return what;
    return unnamed(into.name, "queue");
  }

  outcome operator()(stored_binding& into) {
    into.number = from_.u64();
    if (from_.ok() && into.number >= numbers_end)
      return "its number is " + std::to_string(into.number) + ", which no binding is given";
    return std::nullopt;
  }

private:
  outcome flags(std::uint8_t known) {
    flags_ = from_.u8();
    if ((flags_ & ~known) == 0) return std::nullopt;
    return "its flags are " + std::to_string(flags_) + ", which this version does not know";
  }
  outcome arguments(field_table& into) {
    auto table = read_table(from_);
    if (!table) return std::move(table.reason());
    into = *std::move(table);
    return std::nullopt;
  }

  reader& from_;
  std::uint8_t flags_ = 0;
};

std::optional<complaint> decode_value(std::string_view value, stored_definition& into) {
  reader from{as_bytes(value)};
  const std::uint8_t version = from.u8();
  if (from.ok() && version != value_version)
    return "its value is of version " + std::to_string(version) + ", and this program knows " +
           std::to_string(value_version);
  if (from.ok())
    if (auto what = std::visit(value_decoder{from}, into)) return what;
  return unfinished(from, "value");
}

std::string binding_text(const stored_binding& of) {
  return "binding of exchange '" + of.source + "' to " +
         (of.kind == resource_kind::queue ? "queue '" : "exchange '") + of.destination +
         "' with key '" + of.routing_key + "' in vhost '" + of.vhost + "'";
}

std::string first_bytes(std::string_view key) {
  constexpr std::size_t shown = 24;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "definition with key ";
  for (const char each : key.substr(0, shown)) {
    const auto byte = static_cast<unsigned char>(each);
    (text += digits[byte >> 4]) += digits[byte & 15];
  }
  return key.size() > shown ? text + "..." : text;
}

}  // namespace

bool is_stored(const exchange_definition& exchange) noexcept {
  return exchange.durable && !exchange.name.starts_with("amq.");
}
bool is_stored(const queue_entry& queue) noexcept { return queue.survives_restart(); }
bool is_stored(const binding& of) noexcept {
  return of.source->durable &&
         (of.to.queue ? of.to.queue->survives_restart() : of.to.exchange->durable);
}

std::string stored_vhost_key(std::string_view name) {
  return key_of_kind(kind::vhost).text(name).take();
}
std::string stored_key(std::string_view vhost, const exchange_definition& exchange) {
  return key_of_kind(kind::exchange).text(vhost).text(exchange.name).take();
}
std::string stored_key(const queue_entry& queue) {
  return key_of_kind(kind::queue).text(queue.vhost_name).text(queue.name).take();
}
std::string stored_key(std::string_view vhost, const binding& of) {
  return key_of_kind(kind::binding)
      .text(vhost)
      .text(of.source->name)
      .byte(of.to.queue ? to_queue : to_exchange)
      .text(of.to.name())
      .text(of.key)
      .table(of.arguments)
      .take();
}

definition encode_vhost(std::string_view name) {
  return {stored_vhost_key(name), new_value().take()};
}
definition encode(std::string_view vhost, const exchange_definition& exchange) {
  const int flags =
      (exchange.auto_delete ? flag_auto_delete : 0) | (exchange.internal ? flag_internal : 0);
  return {stored_key(vhost, exchange), new_value()
                                           .byte(number_of(exchange.type))
                                           .byte(static_cast<std::uint8_t>(flags))
                                           .table(exchange.declared)
                                           .take()};
}
definition encode(const queue_entry& queue) {
  return {stored_key(queue), new_value()
                                 .number(queue.id.value)
                                 .byte(queue.auto_delete ? flag_auto_delete : 0)
                                 .table(queue.declared)
                                 .take()};
}
definition encode(std::string_view vhost, const binding& of) {
  return {stored_key(vhost, of), new_value().number(of.id).take()};
}

result<stored_definition> decode(const definition& from) {
  const auto what_is_wrong = [&](const complaint& what) {
    return failure{error{describe_key(from.key) + ": " + what}};
  };
  auto made = decode_key(from.key);
  if (!made) return what_is_wrong(made.reason());
  if (const auto what = decode_value(from.value, *made)) return what_is_wrong(*what);
  return *std::move(made);
}

std::string describe_key(std::string_view key) {
  const auto of = decode_key(key);
  if (!of) return first_bytes(key);
  struct {
    std::string operator()(const stored_vhost& is) { return "vhost '" + is.name + "'"; }
    std::string operator()(const stored_exchange& is) { return exchange_text(is.name, is.vhost); }
    std::string operator()(const stored_queue& is) { return queue_text(is.name, is.vhost); }
    std::string operator()(const stored_binding& is) { return binding_text(is); }
  } text;
  return std::visit(text, *of);
}

}  // namespace baton
