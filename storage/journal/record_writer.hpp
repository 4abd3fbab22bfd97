#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/journal/entries.hpp"
#include "storage/journal/record.hpp"
#include "storage/message.hpp"

namespace baton::journal {

/// Records in the form in which they are written, made where they arise: on a queue's loop, so that
/// the store's thread neither encodes nor sums. What it adds is the seal of the segment.
///
/// Small bodies are copied beside their record. A large one stays where it lies; the message is
/// held until the records are gone.
class encoded_records {
public:
  encoded_records() = default;
  encoded_records(encoded_records&&) noexcept = default;
  encoded_records& operator=(encoded_records&&) noexcept = default;

  bool empty() const noexcept { return starts_.empty(); }
  std::size_t count() const noexcept { return starts_.size(); }
  /// Bytes that they take in a segment, padding included.
  std::uint64_t size() const noexcept { return bytes_.size() + borrowed_bytes_; }
  /// Of the nth record, padding left out.
  std::uint32_t size_of(std::size_t nth) const noexcept {
    return size_of_part(front(starts_[nth]));
  }
  /// Whether one of them is of this kind, or a part of one.
  bool has(record_kind kind) const noexcept { return (kinds_ & bit_of(kind)) != 0; }

  /// Calls `use(std::size_t nth, std::uint32_t offset, const record_outline&)` for each record, and
  /// in the stead of a tx for each of its parts. `offset` is where it begins in the nth record.
  template <class Use>
  void for_each_outline(Use&& use) const {
    auto lent = borrowed_.begin();
    for (std::size_t nth = 0; nth < starts_.size(); ++nth) {
      const auto whole = outline_of(front(starts_[nth]));
      if (whole.kind != record_kind::tx) {
        use(nth, 0u, whole);
        continue;
      }
      auto at = starts_[nth] + record_header_size;
      std::uint32_t offset = record_header_size;
      while (at < start_of(nth + 1)) {
        const auto part = outline_of(front(at));
        use(nth, offset, part);
        const auto size = padded(part.size);
        offset += static_cast<std::uint32_t>(size);
        while (lent != borrowed_.end() && lent->at <= at) ++lent;
        // A borrowed body is what its record ends with.
        const bool borrows =
            lent != borrowed_.end() && lent->at - at + lent->content.body_size() == part.size;
        at += size - (borrows ? lent->content.body_size() : 0);
      }
    }
  }

  /// Puts the seal into the checksums of the records [first, last); or takes it out again.
  void seal(std::size_t first, std::size_t last, std::uint32_t with) noexcept;

  /// Calls `use(byte_view)` for the stretches of records [first, last), in order: what is to be
  /// written.
  template <class Use>
  void for_each_piece(std::size_t first, std::size_t last, Use&& use) const {
    const auto begin = start_of(first);
    const auto end = start_of(last);
    auto at = begin;
    for (const auto& b : borrowed_) {
      if (b.at <= begin || b.at > end) continue;
      if (b.at > at) use(byte_view{bytes_}.subspan(at, b.at - at));
      at = b.at;
      b.content.for_each_body_piece(use);
    }
    if (end > at) use(byte_view{bytes_}.subspan(at, end - at));
  }

private:
  friend class record_writer;

  /// A body that belongs between the byte before `at`, which is of its record, and the byte at it.
  struct borrowed {
    std::size_t at;
    message content;
  };

  std::size_t start_of(std::size_t nth) const noexcept {
    return nth < starts_.size() ? starts_[nth] : bytes_.size();
  }
  byte_view front(std::size_t at) const noexcept { return byte_view{bytes_}.subspan(at); }
  static std::uint32_t bit_of(record_kind kind) noexcept {
    return std::uint32_t{1} << static_cast<std::uint8_t>(kind);
  }

  std::vector<std::uint8_t> bytes_;
  std::vector<std::size_t> starts_;  // in bytes_
  std::vector<borrowed> borrowed_;
  std::uint64_t borrowed_bytes_ = 0;
  std::uint32_t kinds_ = 0;
};

/// Encodes records, one after the other. What is given is borrowed for the call; a large body's
/// message is forked.
class record_writer {
public:
  void add_group(const group& begun);
  void add_enqueue(std::span<const queue_place> places, const message& content);
  void add_settle(std::span<const queue_run> runs);
  void add_move(std::span<const queue_run> runs, std::span<const queue_place> places,
                const message& content);
  void add_requeue(std::span<const queue_return> returns);
  void add_purge(std::uint64_t queue, sequence end, std::span<const queue_run> kept);
  void add_define(std::string_view key, std::optional<byte_view> value);
  void add_peer_progress(const peer_progress& progress);
  void add_relocate(std::span<const queue_place> places, const message& content);
  void add_stream_end(const stream_end& end);
  void add_checkpoint(std::span<const index_state> indexes);
  /// What a stream took in one turn. Only the last of the messages may have a large body.
  void add_chunk(std::uint64_t queue, std::uint64_t first_offset, std::uint64_t time_ms,
                 std::span<const message> messages);

  /// What is added between them is one record, whole on the disk or not at all.
  void begin_tx();
  void end_tx();

  bool empty() const noexcept { return made_.empty(); }
  std::uint64_t size() const noexcept { return made_.size(); }
  encoded_records take() noexcept { return std::exchange(made_, {}); }

private:
  struct open_record {
    std::size_t at = 0;
    std::size_t borrowed = 0;          // number of borrowed bodies before it
    std::uint64_t borrowed_bytes = 0;  // and their bytes
  };

  open_record begin(record_kind kind, std::size_t count, std::size_t runs = 0,
                    std::uint8_t flags = 0);
  void end(const open_record& which);
  template <class Entry>
  void put_entries(std::span<const Entry> all);
  template <class Number>
  void put(Number number);
  void put_bytes(byte_view bytes);
  void put_message(const message& content);

  encoded_records made_;
  std::optional<open_record> tx_;
  std::size_t parts_ = 0;
};

}  // namespace baton::journal
