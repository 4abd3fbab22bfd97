#pragma once

#include "transport/amqp091/method_fields.hpp"

/// Classes connection (10), channel (20) and access (30).
namespace baton::amqp091::methods {

struct connection_start {
  static constexpr std::uint16_t class_id = 10, method_id = 10;
  static constexpr std::string_view name = "connection.start";
  std::uint8_t version_major = 0;
  std::uint8_t version_minor = 9;
  table_view server_properties = {};
  byte_view mechanisms = {};
  byte_view locales = {};
  static void fields(auto& self, auto&& use) {
    use(self.version_major, self.version_minor, self.server_properties, self.mechanisms,
        self.locales);
  }
};

struct connection_start_ok {
  static constexpr std::uint16_t class_id = 10, method_id = 11;
  static constexpr std::string_view name = "connection.start-ok";
  table_view client_properties = {};
  std::string_view mechanism = {};
  byte_view response = {};
  std::string_view locale = {};
  static void fields(auto& self, auto&& use) {
    use(self.client_properties, self.mechanism, self.response, self.locale);
  }
};

struct connection_secure {
  static constexpr std::uint16_t class_id = 10, method_id = 20;
  static constexpr std::string_view name = "connection.secure";
  byte_view challenge = {};
  static void fields(auto& self, auto&& use) { use(self.challenge); }
};

struct connection_secure_ok {
  static constexpr std::uint16_t class_id = 10, method_id = 21;
  static constexpr std::string_view name = "connection.secure-ok";
  byte_view response = {};
  static void fields(auto& self, auto&& use) { use(self.response); }
};

struct connection_tune {
  static constexpr std::uint16_t class_id = 10, method_id = 30;
  static constexpr std::string_view name = "connection.tune";
  std::uint16_t channel_max = 0;
  std::uint32_t frame_max = 0;
  std::uint16_t heartbeat = 0;
  static void fields(auto& self, auto&& use) {
    use(self.channel_max, self.frame_max, self.heartbeat);
  }
};

struct connection_tune_ok {
  static constexpr std::uint16_t class_id = 10, method_id = 31;
  static constexpr std::string_view name = "connection.tune-ok";
  std::uint16_t channel_max = 0;
  std::uint32_t frame_max = 0;
  std::uint16_t heartbeat = 0;
  static void fields(auto& self, auto&& use) {
    use(self.channel_max, self.frame_max, self.heartbeat);
  }
};

struct connection_open {
  static constexpr std::uint16_t class_id = 10, method_id = 40;
  static constexpr std::string_view name = "connection.open";
  std::string_view virtual_host = {};
  std::string_view reserved_1 = {};
  bool reserved_2 = false;
  static void fields(auto& self, auto&& use) {
    use(self.virtual_host, self.reserved_1, self.reserved_2);
  }
};

struct connection_open_ok {
  static constexpr std::uint16_t class_id = 10, method_id = 41;
  static constexpr std::string_view name = "connection.open-ok";
  std::string_view reserved_1 = {};
  static void fields(auto& self, auto&& use) { use(self.reserved_1); }
};

struct connection_close {
  static constexpr std::uint16_t class_id = 10, method_id = 50;
  static constexpr std::string_view name = "connection.close";
  std::uint16_t reply_code = 0;
  std::string_view reply_text = {};
  std::uint16_t failed_class = 0;
  std::uint16_t failed_method = 0;
  static void fields(auto& self, auto&& use) {
    use(self.reply_code, any_bytes(self.reply_text), self.failed_class, self.failed_method);
  }
};

struct connection_close_ok {
  static constexpr std::uint16_t class_id = 10, method_id = 51;
  static constexpr std::string_view name = "connection.close-ok";
  static void fields(auto&, auto&& use) { use(); }
};

struct connection_blocked {
  static constexpr std::uint16_t class_id = 10, method_id = 60;
  static constexpr std::string_view name = "connection.blocked";
  std::string_view reason = {};
  static void fields(auto& self, auto&& use) { use(self.reason); }
};

struct connection_unblocked {
  static constexpr std::uint16_t class_id = 10, method_id = 61;
  static constexpr std::string_view name = "connection.unblocked";
  static void fields(auto&, auto&& use) { use(); }
};

struct connection_update_secret {
  static constexpr std::uint16_t class_id = 10, method_id = 70;
  static constexpr std::string_view name = "connection.update-secret";
  byte_view new_secret = {};
  std::string_view reason = {};
  static void fields(auto& self, auto&& use) { use(self.new_secret, self.reason); }
};

struct connection_update_secret_ok {
  static constexpr std::uint16_t class_id = 10, method_id = 71;
  static constexpr std::string_view name = "connection.update-secret-ok";
  static void fields(auto&, auto&& use) { use(); }
};

struct channel_open {
  static constexpr std::uint16_t class_id = 20, method_id = 10;
  static constexpr std::string_view name = "channel.open";
  std::string_view reserved_1 = {};
  static void fields(auto& self, auto&& use) { use(self.reserved_1); }
};

struct channel_open_ok {
  static constexpr std::uint16_t class_id = 20, method_id = 11;
  static constexpr std::string_view name = "channel.open-ok";
  byte_view reserved_1 = {};
  static void fields(auto& self, auto&& use) { use(self.reserved_1); }
};

struct channel_flow {
  static constexpr std::uint16_t class_id = 20, method_id = 20;
  static constexpr std::string_view name = "channel.flow";
  bool active = false;
  static void fields(auto& self, auto&& use) { use(self.active); }
};

struct channel_flow_ok {
  static constexpr std::uint16_t class_id = 20, method_id = 21;
  static constexpr std::string_view name = "channel.flow-ok";
  bool active = false;
  static void fields(auto& self, auto&& use) { use(self.active); }
};

struct channel_close {
  static constexpr std::uint16_t class_id = 20, method_id = 40;
  static constexpr std::string_view name = "channel.close";
  std::uint16_t reply_code = 0;
  std::string_view reply_text = {};
  std::uint16_t failed_class = 0;
  std::uint16_t failed_method = 0;
  static void fields(auto& self, auto&& use) {
    use(self.reply_code, any_bytes(self.reply_text), self.failed_class, self.failed_method);
  }
};

struct channel_close_ok {
  static constexpr std::uint16_t class_id = 20, method_id = 41;
  static constexpr std::string_view name = "channel.close-ok";
  static void fields(auto&, auto&& use) { use(); }
};

struct access_request {
  static constexpr std::uint16_t class_id = 30, method_id = 10;
  static constexpr std::string_view name = "access.request";
  std::string_view realm = {};
  bool exclusive = false;
  bool passive = false;
  bool active = false;
  bool write = false;
  bool read = false;
  static void fields(auto& self, auto&& use) {
    use(self.realm, self.exclusive, self.passive, self.active, self.write, self.read);
  }
};

struct access_request_ok {
  static constexpr std::uint16_t class_id = 30, method_id = 11;
  static constexpr std::string_view name = "access.request-ok";
  std::uint16_t ticket = 1;
  static void fields(auto& self, auto&& use) { use(self.ticket); }
};

}  // namespace baton::amqp091::methods
