#include "actors/management/json.hpp"

#include <boost/json.hpp>

namespace baton::json {

namespace {

namespace bj = boost::json;

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
    bj::value operator()(const std::string& s) const { return bj::string{s}; }
    bj::value operator()(const binary_value& b) const { return bj::string{b.bytes}; }
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
  for (const auto& [name, value] : table) all.emplace(name, to_value(value));
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
          {"expired", q.expired}};
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
          {"key", b.key},
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

std::string error_text(const std::string& why) { return bj::serialize(bj::object{{"error", why}}); }

std::string request_of(const std::string& line) {
  boost::system::error_code failed;
  auto parsed = bj::parse(line, failed);
  if (failed || !parsed.is_object()) return {};
  const auto* request = parsed.as_object().if_contains("request");
  return request != nullptr && request->is_string() ? std::string{request->as_string()}
                                                    : std::string{};
}

}  // namespace baton::json
