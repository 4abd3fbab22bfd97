#include "actors/management/json.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "transport/amqp091/properties.hpp"

namespace baton::json {

namespace {

namespace bj = boost::json;

/// What is not UTF-8 would make all of the answer unreadable.
std::string readable(std::string_view text) {
  std::string made{text};
  if (amqp091::is_utf8(text)) return made;
  for (auto& c : made)
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  return made;
}

bj::object to_object(const field_table& table);

bj::value to_value(const field_value& value) {
  struct {
    bj::value operator()(void_value) const { return nullptr; }
    bj::value operator()(bool b) const { return b; }
    bj::value operator()(integer_value i) const { return i.value; }
    bj::value operator()(float f) const { return f; }
    bj::value operator()(double d) const { return d; }
    bj::value operator()(decimal_value d) const {
      double v = d.value;
      for (auto i = d.scale; i > 0; --i) v /= 10;
      return v;
    }
    bj::value operator()(timestamp_value t) const { return t.seconds; }
    bj::value operator()(const std::string& s) const { return bj::string{readable(s)}; }
    bj::value operator()(const binary_value& b) const { return bj::string{readable(b.bytes)}; }
    bj::value operator()(const field_array& items) const {
      bj::array all;
      for (const auto& item : items) all.push_back(to_value(item));
      return all;
    }
    bj::value operator()(const field_table& table) const { return to_object(table); }
  } convert;
  return std::visit(convert, value.held);
}

bj::object to_object(const field_table& table) {
  bj::object all;
  for (const auto& [name, value] : table) all.emplace(readable(name), to_value(value));
  return all;
}

bj::object to_object(const queue_report& q) {
  return {{"vhost", q.vhost},
          {"name", q.name},
          {"durable", q.durable},
          {"exclusive", q.exclusive},
          {"auto_delete", q.auto_delete},
          {"arguments", to_object(q.arguments)},
          {"ready", q.ready},
          {"unsettled", q.unsettled},
          {"consumers", q.consumers},
          {"ready_bytes", q.ready_bytes},
          {"on_disk", q.on_disk},
          {"published", q.published},
          {"delivered", q.delivered},
          {"acknowledged", q.acknowledged},
          {"redelivered", q.redelivered},
          {"dropped", q.dropped},
          {"expired", q.expired},
          {"undeliverable", q.undeliverable}};
}

bj::object to_object(const exchange_report& e) {
  return {{"vhost", e.vhost},
          {"name", e.name},
          {"type", e.type},
          {"durable", e.durable},
          {"auto_delete", e.auto_delete},
          {"internal", e.internal},
          {"arguments", to_object(e.arguments)}};
}

bj::object to_object(const binding_report& b) {
  return {{"vhost", b.vhost},
          {"source", b.source},
          {"destination", b.destination},
          {"destination_type", b.to_exchange ? "exchange" : "queue"},
          {"key", readable(b.key)},
          {"arguments", to_object(b.arguments)}};
}

bj::object to_object(const consumer_report& c) {
  return {{"vhost", c.vhost},
          {"queue", c.queue},
          {"connection", c.connection},
          {"channel", c.channel},
          {"tag", c.tag},
          {"no_ack", c.no_ack},
          {"exclusive", c.exclusive},
          {"prefetch", c.prefetch},
          {"priority", c.priority},
          {"unsettled", c.unsettled},
          {"delivered", c.delivered}};
}

bj::object to_object(const connection_report& c) {
  return {{"id", c.id},
          {"peer", c.peer},
          {"local", c.local},
          {"user", c.user},
          {"vhost", c.vhost},
          {"name", c.name},
          {"client", c.client},
          {"state", c.state},
          {"channels", c.channels},
          {"consumers", c.consumers.size()},
          {"bytes_in", c.bytes_in},
          {"bytes_out", c.bytes_out},
          {"published", c.published},
          {"delivered", c.delivered}};
}

bj::object to_object(const journal_report& j) {
  return {{"segments", j.segments},
          {"live_bytes", j.live_bytes},
          {"pending_bytes", j.pending_bytes},
          {"unsynced_bytes", j.unsynced_bytes},
          {"bytes_written", j.bytes_written},
          {"groups", j.groups},
          {"syncs", j.syncs},
          {"failures", j.failures},
          {"full", j.full}};
}

bj::object to_object(const node_report& n) {
  bj::array listeners;
  for (const auto& l : n.listeners) listeners.push_back(bj::string{l});
  return {{"name", n.name},
          {"version", n.version},
          {"process", n.process},
          {"uptime_seconds", n.uptime_seconds},
          {"loops", n.loops},
          {"memory_budget", n.memory_budget},
          {"memory_held", n.memory_held},
          {"memory_resident", n.memory_resident},
          {"publishers_blocked", n.publishers_blocked},
          {"connections", n.connections},
          {"queues", n.queues},
          {"exchanges", n.exchanges},
          {"bindings", n.bindings},
          {"journal", to_object(n.journal)},
          {"listeners", std::move(listeners)}};
}

bj::object properties_of(const std::string& encoded) {
  using amqp091::property;
  bj::object all;
  const auto decoded = amqp091::decode_properties(as_bytes(encoded));
  if (!decoded) return all;
  const auto& p = *decoded;
  const auto text = [&](property which, std::string_view name, std::string_view value) {
    if (p.has(which)) all.emplace(name, readable(value));
  };
  const auto number = [&](property which, std::string_view name, std::uint64_t value) {
    if (p.has(which)) all.emplace(name, value);
  };
  text(property::content_type, "content_type", p.content_type);
  text(property::content_encoding, "content_encoding", p.content_encoding);
  if (p.has(property::headers))
    if (const auto headers = amqp091::decode_table(p.headers.entries))
      all.emplace("headers", to_object(*headers));
  number(property::delivery_mode, "delivery_mode", p.delivery_mode);
  number(property::priority, "priority", p.priority);
  text(property::correlation_id, "correlation_id", p.correlation_id);
  text(property::reply_to, "reply_to", p.reply_to);
  text(property::expiration, "expiration", p.expiration);
  text(property::message_id, "message_id", p.message_id);
  number(property::timestamp, "timestamp", p.timestamp);
  text(property::type, "type", p.type);
  text(property::user_id, "user_id", p.user_id);
  text(property::app_id, "app_id", p.app_id);
  text(property::cluster_id, "cluster_id", p.cluster_id);
  return all;
}

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string made;
  for (const unsigned char byte : bytes) {
    made += digits[byte >> 4];
    made += digits[byte & 15];
  }
  return made;
}

/// The beginning of a text may end within a character: what is left of that is cut off.
std::string_view whole_characters(std::string_view text) {
  for (std::size_t cut = 0; cut <= std::min<std::size_t>(3, text.size()); ++cut)
    if (const auto whole = text.substr(0, text.size() - cut); amqp091::is_utf8(whole)) return whole;
  return text;
}

bj::object to_object(const peeked_message& m) {
  const bool cut = m.body.size() < m.body_size;
  const std::string_view body = cut ? whole_characters(m.body) : m.body;
  const bool is_text = amqp091::is_utf8(body) && body.find('\0') == body.npos;
  bj::object all{{"number", m.number},
                 {"exchange", m.exchange},
                 {"routing_key", readable(m.routing_key)},
                 {"redelivered", m.redelivered},
                 {"returns", m.returns},
                 {"on_disk", m.on_disk},
                 {"properties", properties_of(m.properties)},
                 {"body_size", m.body_size},
                 {"body_encoding", is_text ? "text" : "hex"},
                 {"body", is_text ? std::string{body} : hexadecimal(m.body)},
                 {"body_cut", cut}};
  if (m.expires_in_ms) all.emplace("expires_in_ms", *m.expires_in_ms);
  return all;
}

template <class Report>
std::string list_text(const std::vector<Report>& reports) {
  bj::array all;
  all.reserve(reports.size());
  for (const auto& r : reports) all.push_back(to_object(r));
  return bj::serialize(all);
}

}  // namespace

std::string text_of(const node_report& report) { return bj::serialize(to_object(report)); }
std::string text_of(const std::vector<queue_report>& r) { return list_text(r); }
std::string text_of(const std::vector<exchange_report>& r) { return list_text(r); }
std::string text_of(const std::vector<binding_report>& r) { return list_text(r); }
std::string text_of(const std::vector<connection_report>& r) { return list_text(r); }
std::string text_of(const std::vector<consumer_report>& r) { return list_text(r); }

std::string text_of(const queue_peek& seen) {
  bj::array messages;
  for (const auto& m : seen.messages) messages.push_back(to_object(m));
  return bj::serialize(bj::object{{"ready", seen.ready}, {"messages", std::move(messages)}});
}

std::string count_text(std::uint64_t messages) {
  return bj::serialize(bj::object{{"messages", messages}});
}

std::string error_text(const std::string& why) {
  return bj::serialize(bj::object{{"error", readable(why)}});
}

control_request parse_request(const std::string& line) {
  control_request asked;
  boost::system::error_code failed;
  const auto parsed = bj::parse(line, failed);
  if (failed || !parsed.is_object()) return asked;
  const auto& said = parsed.as_object();
  const auto text = [&](std::string_view name, std::string& into) {
    const auto* value = said.if_contains(name);
    if (value != nullptr && value->is_string()) into = std::string{value->as_string()};
  };
  const auto number = [&](std::string_view name, std::uint64_t& into) {
    const auto* value = said.if_contains(name);
    if (value != nullptr && value->is_int64() && value->as_int64() >= 0)
      into = static_cast<std::uint64_t>(value->as_int64());
  };
  const auto truth = [&](std::string_view name, bool& into) {
    const auto* value = said.if_contains(name);
    if (value != nullptr && value->is_bool()) into = value->as_bool();
  };
  text("request", asked.request);
  text("vhost", asked.vhost);
  text("queue", asked.queue);
  number("count", asked.count);
  number("body_bytes", asked.body_bytes);
  truth("if_unused", asked.if_unused);
  truth("if_empty", asked.if_empty);
  return asked;
}

std::string text_of(const control_request& asked) {
  return bj::serialize(bj::object{{"request", asked.request},
                                  {"vhost", asked.vhost},
                                  {"queue", asked.queue},
                                  {"count", asked.count},
                                  {"body_bytes", asked.body_bytes},
                                  {"if_unused", asked.if_unused},
                                  {"if_empty", asked.if_empty}});
}

}  // namespace baton::json
