#pragma once

#include "transport/amqp091/method_fields.hpp"

/// Classes basic (60), confirm (85) and tx (90).
namespace baton::amqp091::methods {

struct basic_qos {
  static constexpr std::uint16_t class_id = 60, method_id = 10;
  static constexpr std::string_view name = "basic.qos";
  std::uint32_t prefetch_size = 0;
  std::uint16_t prefetch_count = 0;
  bool global = false;
  static void fields(auto& self, auto&& use) {
    use(self.prefetch_size, self.prefetch_count, self.global);
  }
};

struct basic_qos_ok {
  static constexpr std::uint16_t class_id = 60, method_id = 11;
  static constexpr std::string_view name = "basic.qos-ok";
  static void fields(auto&, auto&& use) { use(); }
};

struct basic_consume {
  static constexpr std::uint16_t class_id = 60, method_id = 20;
  static constexpr std::string_view name = "basic.consume";
  std::uint16_t ticket = 0;
  std::string_view queue = {};
  std::string_view consumer_tag = {};
  bool no_local = false;
  bool no_ack = false;
  bool exclusive = false;
  bool no_wait = false;
  table_view arguments = {};
  static void fields(auto& self, auto&& use) {
    use(self.ticket, self.queue, self.consumer_tag, self.no_local, self.no_ack, self.exclusive,
        self.no_wait, self.arguments);
  }
};

struct basic_consume_ok {
  static constexpr std::uint16_t class_id = 60, method_id = 21;
  static constexpr std::string_view name = "basic.consume-ok";
  std::string_view consumer_tag = {};
  static void fields(auto& self, auto&& use) { use(self.consumer_tag); }
};

struct basic_cancel {
  static constexpr std::uint16_t class_id = 60, method_id = 30;
  static constexpr std::string_view name = "basic.cancel";
  std::string_view consumer_tag = {};
  bool no_wait = false;
  static void fields(auto& self, auto&& use) { use(self.consumer_tag, self.no_wait); }
};

struct basic_cancel_ok {
  static constexpr std::uint16_t class_id = 60, method_id = 31;
  static constexpr std::string_view name = "basic.cancel-ok";
  std::string_view consumer_tag = {};
  static void fields(auto& self, auto&& use) { use(self.consumer_tag); }
};

struct basic_publish {
  static constexpr std::uint16_t class_id = 60, method_id = 40;
  static constexpr std::string_view name = "basic.publish";
  std::uint16_t ticket = 0;
  std::string_view exchange = {};
  std::string_view routing_key = {};
  bool mandatory = false;
  bool immediate = false;
  static void fields(auto& self, auto&& use) {
    use(self.ticket, any_bytes(self.exchange), any_bytes(self.routing_key), self.mandatory,
        self.immediate);
  }
};

struct basic_return {
  static constexpr std::uint16_t class_id = 60, method_id = 50;
  static constexpr std::string_view name = "basic.return";
  std::uint16_t reply_code = 0;
  std::string_view reply_text = {};
  std::string_view exchange = {};
  std::string_view routing_key = {};
  static void fields(auto& self, auto&& use) {
    use(self.reply_code, any_bytes(self.reply_text), any_bytes(self.exchange),
        any_bytes(self.routing_key));
  }
};

struct basic_deliver {
  static constexpr std::uint16_t class_id = 60, method_id = 60;
  static constexpr std::string_view name = "basic.deliver";
  std::string_view consumer_tag = {};
  std::uint64_t delivery_tag = 0;
  bool redelivered = false;
  std::string_view exchange = {};
  std::string_view routing_key = {};
  static void fields(auto& self, auto&& use) {
    use(any_bytes(self.consumer_tag), self.delivery_tag, self.redelivered, any_bytes(self.exchange),
        any_bytes(self.routing_key));
  }
};

struct basic_get {
  static constexpr std::uint16_t class_id = 60, method_id = 70;
  static constexpr std::string_view name = "basic.get";
  std::uint16_t ticket = 0;
  std::string_view queue = {};
  bool no_ack = false;
  static void fields(auto& self, auto&& use) { use(self.ticket, self.queue, self.no_ack); }
};

struct basic_get_ok {
  static constexpr std::uint16_t class_id = 60, method_id = 71;
  static constexpr std::string_view name = "basic.get-ok";
  std::uint64_t delivery_tag = 0;
  bool redelivered = false;
  std::string_view exchange = {};
  std::string_view routing_key = {};
  std::uint32_t message_count = 0;
  static void fields(auto& self, auto&& use) {
    use(self.delivery_tag, self.redelivered, any_bytes(self.exchange), any_bytes(self.routing_key),
        self.message_count);
  }
};

struct basic_get_empty {
  static constexpr std::uint16_t class_id = 60, method_id = 72;
  static constexpr std::string_view name = "basic.get-empty";
  std::string_view reserved_1 = {};
  static void fields(auto& self, auto&& use) { use(self.reserved_1); }
};

struct basic_ack {
  static constexpr std::uint16_t class_id = 60, method_id = 80;
  static constexpr std::string_view name = "basic.ack";
  std::uint64_t delivery_tag = 0;
  bool multiple = false;
  static void fields(auto& self, auto&& use) { use(self.delivery_tag, self.multiple); }
};

struct basic_reject {
  static constexpr std::uint16_t class_id = 60, method_id = 90;
  static constexpr std::string_view name = "basic.reject";
  std::uint64_t delivery_tag = 0;
  bool requeue = false;
  static void fields(auto& self, auto&& use) { use(self.delivery_tag, self.requeue); }
};

struct basic_recover_async {
  static constexpr std::uint16_t class_id = 60, method_id = 100;
  static constexpr std::string_view name = "basic.recover-async";
  bool requeue = false;
  static void fields(auto& self, auto&& use) { use(self.requeue); }
};

struct basic_recover {
  static constexpr std::uint16_t class_id = 60, method_id = 110;
  static constexpr std::string_view name = "basic.recover";
  bool requeue = false;
  static void fields(auto& self, auto&& use) { use(self.requeue); }
};

struct basic_recover_ok {
  static constexpr std::uint16_t class_id = 60, method_id = 111;
  static constexpr std::string_view name = "basic.recover-ok";
  static void fields(auto&, auto&& use) { use(); }
};

struct basic_nack {
  static constexpr std::uint16_t class_id = 60, method_id = 120;
  static constexpr std::string_view name = "basic.nack";
  std::uint64_t delivery_tag = 0;
  bool multiple = false;
  bool requeue = false;
  static void fields(auto& self, auto&& use) {
    use(self.delivery_tag, self.multiple, self.requeue);
  }
};

struct confirm_select {
  static constexpr std::uint16_t class_id = 85, method_id = 10;
  static constexpr std::string_view name = "confirm.select";
  bool no_wait = false;
  static void fields(auto& self, auto&& use) { use(self.no_wait); }
};

struct confirm_select_ok {
  static constexpr std::uint16_t class_id = 85, method_id = 11;
  static constexpr std::string_view name = "confirm.select-ok";
  static void fields(auto&, auto&& use) { use(); }
};

struct tx_select {
  static constexpr std::uint16_t class_id = 90, method_id = 10;
  static constexpr std::string_view name = "tx.select";
  static void fields(auto&, auto&& use) { use(); }
};

struct tx_select_ok {
  static constexpr std::uint16_t class_id = 90, method_id = 11;
  static constexpr std::string_view name = "tx.select-ok";
  static void fields(auto&, auto&& use) { use(); }
};

struct tx_commit {
  static constexpr std::uint16_t class_id = 90, method_id = 20;
  static constexpr std::string_view name = "tx.commit";
  static void fields(auto&, auto&& use) { use(); }
};

struct tx_commit_ok {
  static constexpr std::uint16_t class_id = 90, method_id = 21;
  static constexpr std::string_view name = "tx.commit-ok";
  static void fields(auto&, auto&& use) { use(); }
};

struct tx_rollback {
  static constexpr std::uint16_t class_id = 90, method_id = 30;
  static constexpr std::string_view name = "tx.rollback";
  static void fields(auto&, auto&& use) { use(); }
};

struct tx_rollback_ok {
  static constexpr std::uint16_t class_id = 90, method_id = 31;
  static constexpr std::string_view name = "tx.rollback-ok";
  static void fields(auto&, auto&& use) { use(); }
};

}  // namespace baton::amqp091::methods
