#pragma once

#include <string>
#include <vector>

#include "transport/amqp091/properties.hpp"
#include "transport/amqp091/server_connection.hpp"

namespace baton::amqp091::test {

/// Writes down every call in words, answers at once (or not, see the flags).
class recording_handler : public server_handler {
public:
  std::vector<std::string> calls;
  server_connection* machine = nullptr;

  bool answers = true;        ///< logins, opens and closes are answered inside the call
  bool login_is_good = true;  ///< what the answer to a login is
  int holds_after = -1;       ///< publishes are held after this many more of them
  int waits = 0;              ///< this many content_begins are answered with wait
  int gives_back_on = -1;     ///< the channel that gives something back when it closes

  std::string take() {
    std::string all;
    for (const auto& call : calls) all += (all.empty() ? "" : "\n") + call;
    calls.clear();
    return all;
  }

  void authenticate(std::string_view mechanism, std::string_view user,
                    std::string_view password) override {
    note("authenticate " + text(mechanism) + " " + text(user) + " " + text(password));
    if (answers) login_is_good ? machine->authenticated() : machine->authentication_refused();
  }
  void open_requested(std::string_view virtual_host) override {
    note("open " + text(virtual_host));
    if (answers) machine->open_accepted();
  }
  void secret_updated(byte_view secret, std::string_view reason) override {
    note("secret " + text(as_text(secret)) + " " + text(reason));
  }
  void close_requested(std::uint16_t code, std::string_view why) override {
    note("close " + std::to_string(code) + " " + text(why));
    if (answers) machine->finish_close();
  }
  void connection_failed(const protocol_error& error) override {
    note("failed " + describe(error));
  }
  void channel_opened(channel_number channel) override { note(channel, "opened"); }
  void channel_close_requested(channel_number channel) override {
    note(channel, "closes");
    if (answers) machine->finish_channel_close(channel);
  }
  void channel_failed(channel_number channel, const protocol_error& error) override {
    note(channel, "failed " + describe(error));
  }
  void publish(channel_number channel, const publish_view& view) override {
    note(channel, "publish " + describe(view) + " body " + shortened(text(as_text(view.body))));
    if (holds_after > 0 && --holds_after == 0) machine->hold_publishes(true);
  }
  admission content_begin(channel_number channel, const publish_view& view, std::uint64_t size,
                          bool may_wait) override {
    if (waits > 0 && may_wait) {
      --waits;
      note(channel, "wait");
      return admission::wait;
    }
    begun_ = describe(view);
    expected_ = size;
    body_.clear();
    return admission::take;
  }
  bool gives_back(channel_number channel) override { return channel == gives_back_on; }
  void content_piece(channel_number, byte_view bytes) override { body_ += as_text(bytes); }
  /// The same words as for a whole publish: how a content was cut must not show.
  void content_end(channel_number channel) override {
    if (body_.size() != expected_) note(channel, "WRONG SIZE");
    note(channel, "publish " + begun_ + " body " + shortened(body_));
    if (holds_after > 0 && --holds_after == 0) machine->hold_publishes(true);
  }

  void on(channel_number c, const methods::basic_ack& m) override { record(c, m); }
  void on(channel_number c, const methods::basic_nack& m) override { record(c, m); }
  void on(channel_number c, const methods::basic_reject& m) override { record(c, m); }
  void on(channel_number c, const methods::basic_get& m) override { record(c, m); }
  void on(channel_number c, const methods::basic_qos& m) override { record(c, m); }
  void on(channel_number c, const methods::basic_consume& m) override { record(c, m); }
  void on(channel_number c, const methods::basic_cancel& m) override { record(c, m); }
  void on(channel_number c, const methods::basic_recover& m) override { record(c, m); }
  void on(channel_number c, const methods::basic_recover_async& m) override { record(c, m); }
  void on(channel_number c, const methods::exchange_declare& m) override { record(c, m); }
  void on(channel_number c, const methods::exchange_delete& m) override { record(c, m); }
  void on(channel_number c, const methods::exchange_bind& m) override { record(c, m); }
  void on(channel_number c, const methods::exchange_unbind& m) override { record(c, m); }
  void on(channel_number c, const methods::queue_declare& m) override { record(c, m); }
  void on(channel_number c, const methods::queue_bind& m) override { record(c, m); }
  void on(channel_number c, const methods::queue_unbind& m) override { record(c, m); }
  void on(channel_number c, const methods::queue_purge& m) override { record(c, m); }
  void on(channel_number c, const methods::queue_delete& m) override { record(c, m); }
  void on(channel_number c, const methods::confirm_select& m) override { record(c, m); }
  void on(channel_number c, const methods::tx_select& m) override { record(c, m); }
  void on(channel_number c, const methods::tx_commit& m) override { record(c, m); }
  void on(channel_number c, const methods::tx_rollback& m) override { record(c, m); }

  static std::string describe(const protocol_error& error) {
    return std::to_string(static_cast<int>(error.code)) + " " + std::to_string(error.class_id) +
           "," + std::to_string(error.method_id) + " " + error.text;
  }

private:
  static std::string text(std::string_view view) { return std::string{view}; }
  static std::string shortened(const std::string& body) {
    if (body.size() <= 20) return "'" + body + "'";
    return std::to_string(body.size()) + " bytes, hash " +
           std::to_string(std::hash<std::string>{}(body));
  }
  static std::string describe(const publish_view& view) {
    const auto properties = decode_properties(view.properties);
    return text(view.exchange) + "/" + text(view.routing_key) + (view.mandatory ? " m" : "") +
           (view.immediate ? " i" : "") + " flags " +
           std::to_string(properties ? properties->flags : 99999);
  }
  template <class Method>
  void record(channel_number channel, const Method& method) {
    output_buffer bytes;
    encode_payload(bytes, method);
    std::string words = text(Method::name);
    for (const auto byte : bytes.view().subspan(4)) words += " " + std::to_string(byte);
    note(channel, words);
  }
  void note(channel_number channel, const std::string& words) {
    note(std::to_string(channel) + " " + words);
  }
  void note(std::string words) { calls.push_back(std::move(words)); }

  std::string begun_;
  std::string body_;
  std::uint64_t expected_ = 0;
};

}  // namespace baton::amqp091::test
