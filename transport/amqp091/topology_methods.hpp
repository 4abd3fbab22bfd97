#pragma once

#include "transport/amqp091/method_fields.hpp"

/// Classes exchange (40) and queue (50).
namespace baton::amqp091::methods {

struct exchange_declare {
  static constexpr std::uint16_t class_id = 40, method_id = 10;
  static constexpr std::string_view name = "exchange.declare";
  std::uint16_t ticket = 0;
  std::string_view exchange = {};
  std::string_view type = {};
  bool passive = false;
  bool durable = false;
  bool auto_delete = false;
  bool internal = false;
  bool no_wait = false;
  table_view arguments = {};
  static void fields(auto& self, auto&& use) {
    use(self.ticket, self.exchange, self.type, self.passive, self.durable, self.auto_delete,
        self.internal, self.no_wait, self.arguments);
  }
};

struct exchange_declare_ok {
  static constexpr std::uint16_t class_id = 40, method_id = 11;
  static constexpr std::string_view name = "exchange.declare-ok";
  static void fields(auto&, auto&& use) { use(); }
};

struct exchange_delete {
  static constexpr std::uint16_t class_id = 40, method_id = 20;
  static constexpr std::string_view name = "exchange.delete";
  std::uint16_t ticket = 0;
  std::string_view exchange = {};
  bool if_unused = false;
  bool no_wait = false;
  static void fields(auto& self, auto&& use) {
    use(self.ticket, self.exchange, self.if_unused, self.no_wait);
  }
};

struct exchange_delete_ok {
  static constexpr std::uint16_t class_id = 40, method_id = 21;
  static constexpr std::string_view name = "exchange.delete-ok";
  static void fields(auto&, auto&& use) { use(); }
};

struct exchange_bind {
  static constexpr std::uint16_t class_id = 40, method_id = 30;
  static constexpr std::string_view name = "exchange.bind";
  std::uint16_t ticket = 0;
  std::string_view destination = {};
  std::string_view source = {};
  std::string_view routing_key = {};
  bool no_wait = false;
  table_view arguments = {};
  static void fields(auto& self, auto&& use) {
    use(self.ticket, self.destination, self.source, any_bytes(self.routing_key), self.no_wait,
        self.arguments);
  }
};

struct exchange_bind_ok {
  static constexpr std::uint16_t class_id = 40, method_id = 31;
  static constexpr std::string_view name = "exchange.bind-ok";
  static void fields(auto&, auto&& use) { use(); }
};

struct exchange_unbind {
  static constexpr std::uint16_t class_id = 40, method_id = 40;
  static constexpr std::string_view name = "exchange.unbind";
  std::uint16_t ticket = 0;
  std::string_view destination = {};
  std::string_view source = {};
  std::string_view routing_key = {};
  bool no_wait = false;
  table_view arguments = {};
  static void fields(auto& self, auto&& use) {
    use(self.ticket, self.destination, self.source, any_bytes(self.routing_key), self.no_wait,
        self.arguments);
  }
};

struct exchange_unbind_ok {
  static constexpr std::uint16_t class_id = 40, method_id = 51;
  static constexpr std::string_view name = "exchange.unbind-ok";
  static void fields(auto&, auto&& use) { use(); }
};

struct queue_declare {
  static constexpr std::uint16_t class_id = 50, method_id = 10;
  static constexpr std::string_view name = "queue.declare";
  std::uint16_t ticket = 0;
  std::string_view queue = {};
  bool passive = false;
  bool durable = false;
  bool exclusive = false;
  bool auto_delete = false;
  bool no_wait = false;
  table_view arguments = {};
  static void fields(auto& self, auto&& use) {
    use(self.ticket, self.queue, self.passive, self.durable, self.exclusive, self.auto_delete,
        self.no_wait, self.arguments);
  }
};

struct queue_declare_ok {
  static constexpr std::uint16_t class_id = 50, method_id = 11;
  static constexpr std::string_view name = "queue.declare-ok";
  std::string_view queue = {};
  std::uint32_t message_count = 0;
  std::uint32_t consumer_count = 0;
  static void fields(auto& self, auto&& use) {
    use(self.queue, self.message_count, self.consumer_count);
  }
};

struct queue_bind {
  static constexpr std::uint16_t class_id = 50, method_id = 20;
  static constexpr std::string_view name = "queue.bind";
  std::uint16_t ticket = 0;
  std::string_view queue = {};
  std::string_view exchange = {};
  std::string_view routing_key = {};
  bool no_wait = false;
  table_view arguments = {};
  static void fields(auto& self, auto&& use) {
    use(self.ticket, self.queue, self.exchange, any_bytes(self.routing_key), self.no_wait,
        self.arguments);
  }
};

struct queue_bind_ok {
  static constexpr std::uint16_t class_id = 50, method_id = 21;
  static constexpr std::string_view name = "queue.bind-ok";
  static void fields(auto&, auto&& use) { use(); }
};

struct queue_purge {
  static constexpr std::uint16_t class_id = 50, method_id = 30;
  static constexpr std::string_view name = "queue.purge";
  std::uint16_t ticket = 0;
  std::string_view queue = {};
  bool no_wait = false;
  static void fields(auto& self, auto&& use) { use(self.ticket, self.queue, self.no_wait); }
};

struct queue_purge_ok {
  static constexpr std::uint16_t class_id = 50, method_id = 31;
  static constexpr std::string_view name = "queue.purge-ok";
  std::uint32_t message_count = 0;
  static void fields(auto& self, auto&& use) { use(self.message_count); }
};

struct queue_delete {
  static constexpr std::uint16_t class_id = 50, method_id = 40;
  static constexpr std::string_view name = "queue.delete";
  std::uint16_t ticket = 0;
  std::string_view queue = {};
  bool if_unused = false;
  bool if_empty = false;
  bool no_wait = false;
  static void fields(auto& self, auto&& use) {
    use(self.ticket, self.queue, self.if_unused, self.if_empty, self.no_wait);
  }
};

struct queue_delete_ok {
  static constexpr std::uint16_t class_id = 50, method_id = 41;
  static constexpr std::string_view name = "queue.delete-ok";
  std::uint32_t message_count = 0;
  static void fields(auto& self, auto&& use) { use(self.message_count); }
};

struct queue_unbind {
  static constexpr std::uint16_t class_id = 50, method_id = 50;
  static constexpr std::string_view name = "queue.unbind";
  std::uint16_t ticket = 0;
  std::string_view queue = {};
  std::string_view exchange = {};
  std::string_view routing_key = {};
  table_view arguments = {};
  static void fields(auto& self, auto&& use) {
    use(self.ticket, self.queue, self.exchange, any_bytes(self.routing_key), self.arguments);
  }
};

struct queue_unbind_ok {
  static constexpr std::uint16_t class_id = 50, method_id = 51;
  static constexpr std::string_view name = "queue.unbind-ok";
  static void fields(auto&, auto&& use) { use(); }
};

}  // namespace baton::amqp091::methods
