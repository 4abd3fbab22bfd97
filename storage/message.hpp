#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/byte_view.hpp"
#include "storage/large_body.hpp"
#include "storage/slab.hpp"

namespace baton {

/// Bodies up to this many bytes lie in the slab beside their message; larger ones are a
/// `large_body`. A kept slice of a receive buffer would hold all of the buffer.
constexpr std::size_t small_body_limit = 4096;

/// What a message is made of, borrowed until it has been copied into a slab.
struct message_parts {
  std::string_view exchange;     // at most 255 bytes
  std::string_view routing_key;  // at most 255 bytes
  /// Properties and headers in the encoding that they arrived in: AMQP 0-9-1's property flags and
  /// property list (the content header from its offset 12 on, §4.2.6.1).
  byte_view properties;
  bool persistent = false;
  std::uint8_t priority = 0;
  /// Time to live that the publisher asked for; it starts when a queue takes the message.
  std::optional<std::uint64_t> expiration_ms;
};

/// One message in motion, whole and never changed after it was made: a handle of two words on its
/// record in a slab. Move-only; `fork()` makes the second holder that a fan-out needs.
class message {
public:
  message() = default;
  message(message&& other) noexcept
      : slab_{std::exchange(other.slab_, nullptr)},
        record_{std::exchange(other.record_, nullptr)} {}
  message& operator=(message&& other) noexcept {
    std::swap(slab_, other.slab_);
    std::swap(record_, other.record_);
    return *this;
  }
  ~message() {
    if (slab_ != nullptr) slab_->release();
  }

  explicit operator bool() const noexcept { return slab_ != nullptr; }

  /// A second holder of the same message: no byte is copied.
  message fork() const noexcept {
    slab_->hold();
    return message{slab_, record_};
  }
  /// The same through `holds`, which shares the cost among neighbours. Neither holder may go before
  /// `holds` is flushed.
  message fork_through(slab_holds& holds) const noexcept {
    holds.add(slab_);
    return message{slab_, record_};
  }
  /// Ends this holder through `releases`, which shares the cost among neighbours.
  void release_through(slab_releases& releases) && noexcept {
    if (slab_ != nullptr) releases.add(slab_);
    slab_ = nullptr;
    record_ = nullptr;
  }

  std::string_view exchange() const noexcept { return {text(), record_->exchange_size}; }
  std::string_view routing_key() const noexcept {
    return {text() + record_->exchange_size, record_->routing_key_size};
  }
  byte_view properties() const noexcept {
    return as_bytes(
        {text() + record_->exchange_size + record_->routing_key_size, record_->properties_size});
  }
  std::uint64_t body_size() const noexcept { return record_->body_size; }

  /// The body where it lies in one piece in the slab; empty for a large one.
  byte_view small_body() const noexcept {
    if (is_large()) return {};
    return {properties().data() + record_->properties_size, record_->body_size};
  }
  /// The body where it is a chain of blocks, else nullptr. Lives as long as this message does.
  const large_body* large() const noexcept { return is_large() ? record_->large : nullptr; }

  /// Calls `visit(byte_view)` for each stretch of the body, in order.
  template <class Visitor>
  void for_each_body_piece(Visitor&& visit) const {
    if (is_large())
      record_->large->for_each_piece(visit);
    else if (record_->body_size > 0)
      visit(small_body());
  }

  bool persistent() const noexcept { return (record_->flags & flag_persistent) != 0; }
  std::uint8_t priority() const noexcept { return record_->priority; }
  std::optional<std::uint64_t> expiration_ms() const noexcept {
    if ((record_->flags & flag_expires) == 0) return std::nullopt;
    return record_->expiration_ms;
  }

  /// The memory that it lies in, with its neighbours.
  const slab& memory() const noexcept { return *slab_; }

  /// What limits and credit count for it: body, properties, names and the record, in bytes.
  std::uint64_t footprint() const noexcept {
    return sizeof(record) + record_->exchange_size + record_->routing_key_size +
           record_->properties_size + record_->body_size;
  }

private:
  friend class slab_writer;

  // In the slab, followed by exchange, routing key, properties and the small body.
  struct record {
    std::uint64_t body_size;
    std::uint64_t expiration_ms;
    large_body* large;
    std::uint32_t properties_size;
    std::uint8_t exchange_size;
    std::uint8_t routing_key_size;
    std::uint8_t flags;
    std::uint8_t priority;
  };
  static constexpr std::uint8_t flag_persistent = 1;
  static constexpr std::uint8_t flag_expires = 2;
  static constexpr std::uint8_t flag_large = 4;

  message(slab* held, const record* r) noexcept : slab_{held}, record_{r} {}

  bool is_large() const noexcept { return (record_->flags & flag_large) != 0; }
  const char* text() const noexcept { return reinterpret_cast<const char*>(record_ + 1); }

  slab* slab_ = nullptr;
  const record* record_ = nullptr;
};

/// Messages that travel together; a message on its own is a batch of one. When it goes, messages
/// that lie in the same slab are released together.
class batch {
public:
  /// A batch is handed on when it holds this many messages or bytes; a larger message travels
  /// alone.
  static constexpr std::size_t max_messages = 64;
  static constexpr std::uint64_t max_bytes = 64 << 10;

  batch() = default;
  batch(batch&&) noexcept = default;
  batch& operator=(batch&& other) noexcept {
    clear();
    messages_.swap(other.messages_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~batch() { clear(); }

  void add(message taken) {
    bytes_ += taken.footprint();
    messages_.push_back(std::move(taken));
  }
  bool empty() const noexcept { return messages_.empty(); }
  std::size_t size() const noexcept { return messages_.size(); }
  std::uint64_t bytes() const noexcept { return bytes_; }
  bool full() const noexcept { return messages_.size() >= max_messages || bytes_ >= max_bytes; }

  message& operator[](std::size_t i) { return messages_[i]; }
  const message& operator[](std::size_t i) const { return messages_[i]; }
  auto begin() { return messages_.begin(); }
  auto end() { return messages_.end(); }
  auto begin() const { return messages_.begin(); }
  auto end() const { return messages_.end(); }

  void clear() noexcept {
    slab_releases releases;
    for (auto& m : messages_) std::move(m).release_through(releases);
    messages_.clear();
    bytes_ = 0;
  }

private:
  std::vector<message> messages_;
  std::uint64_t bytes_ = 0;
};

/// Fills slabs with messages, one slab after the other. `expect()` says how many bytes are about to
/// come, so that a lone message does not take a whole batch's memory.
class slab_writer {
public:
  slab_writer() = default;
  slab_writer(const slab_writer&) = delete;
  slab_writer& operator=(const slab_writer&) = delete;
  ~slab_writer() { close(); }

  /// The messages that follow will need about this many bytes together (their wire size will do);
  /// a hint for the size of the next slab.
  void expect(std::size_t bytes) noexcept { expected_ = bytes; }

  /// The messages that follow are copies that will stay: they need exactly this many bytes together
  /// (each `slab::rounded` up), and their slabs have no room to spare.
  void pack(std::size_t bytes) noexcept {
    close();
    packed_ = bytes;
  }

  /// Copies the parts and the body. The message owns all it needs.
  message add(const message_parts& parts, byte_view body);

  /// The same around a body that is already in blocks. Takes the body over.
  message add(const message_parts& parts, std::unique_ptr<large_body> body);

  /// A copy of a message with a small body, in a slab of this writer.
  message copy(const message& original);

  /// Lets go of the slab under way; its messages live on.
  void close() noexcept {
    if (open_ != nullptr) std::exchange(open_, nullptr)->release(1 + spare_holds());
  }

private:
  slab* open_for(std::size_t need);
  message place(const message_parts& parts, std::uint64_t body_size, std::size_t inline_body_size);
  std::uint32_t spare_holds() noexcept { return std::exchange(spare_, 0); }

  slab* open_ = nullptr;
  std::uint32_t spare_ = 0;  // holds taken in advance, for the messages to come
  std::size_t expected_ = 0;
  std::size_t packed_ = 0;
};

}  // namespace baton
