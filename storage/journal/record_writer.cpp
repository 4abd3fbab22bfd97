#include "storage/journal/record_writer.hpp"

#include <limits>

#include "config/check.hpp"
#include "storage/journal/crc32c.hpp"
#include "storage/journal/numbers.hpp"

namespace baton::journal {

namespace {

constexpr std::size_t check_at = 4;
constexpr std::size_t count_at = 12;

}  // namespace

// -- what was made

void encoded_records::seal(std::size_t first, std::size_t last, std::uint32_t with) noexcept {
  for (auto nth = first; nth < last; ++nth) {
    auto* check = &bytes_[starts_[nth] + check_at];
    store(check, load<std::uint32_t>(check) ^ with);
  }
}

// -- framing

record_writer::open_record record_writer::begin(record_kind kind, std::size_t count,
                                                std::size_t runs, std::uint8_t flags) {
  BATON_CHECK(count <= std::numeric_limits<std::uint32_t>::max());
  BATON_CHECK(runs <= std::numeric_limits<std::uint16_t>::max());
  const open_record made{made_.bytes_.size(), made_.borrowed_.size(), made_.borrowed_bytes_};
  if (tx_)
    ++parts_;
  else
    made_.starts_.push_back(made.at);
  made_.kinds_ |= encoded_records::bit_of(kind);
  put(std::uint64_t{0});  // size and checksum come when it ends
  put(static_cast<std::uint8_t>(kind));
  put(flags);
  put(static_cast<std::uint16_t>(runs));
  put(static_cast<std::uint32_t>(count));
  return made;
}

void record_writer::end(const open_record& which) {
  auto& bytes = made_.bytes_;
  const auto size = bytes.size() - which.at + made_.borrowed_bytes_ - which.borrowed_bytes;
  BATON_CHECK(size <= std::numeric_limits<std::uint32_t>::max());
  store(&bytes[which.at], static_cast<std::uint32_t>(size));
  const bool is_part = tx_ && which.at != tx_->at;
  if (!is_part) {  // the sum of a tx covers its parts
    auto sum = crc32c({&bytes[which.at], 4});
    auto at = which.at + 8;
    for (auto i = which.borrowed; i < made_.borrowed_.size(); ++i) {
      const auto& b = made_.borrowed_[i];
      sum = crc32c({&bytes[at], b.at - at}, sum);
      b.content.for_each_body_piece([&](byte_view piece) { sum = crc32c(piece, sum); });
      at = b.at;
    }
    sum = crc32c({bytes.data() + at, bytes.size() - at}, sum);
    store(&bytes[which.at + check_at], sum);
  }
  bytes.resize(bytes.size() + padded(size) - size);
}

template <class Number>
void record_writer::put(Number number) {
  const auto at = made_.bytes_.size();
  made_.bytes_.resize(at + sizeof number);
  store(&made_.bytes_[at], number);
}

void record_writer::put_bytes(byte_view bytes) {
  made_.bytes_.insert(made_.bytes_.end(), bytes.begin(), bytes.end());
}

template <class Entry>
void record_writer::put_entries(std::span<const Entry> all) {
  put_bytes({reinterpret_cast<const std::uint8_t*>(all.data()), all.size_bytes()});
}

void record_writer::put_message(const message& content) {
  const auto expiration_ms = content.expiration_ms();
  put(content.body_size());
  put(expiration_ms.value_or(0));
  put(static_cast<std::uint32_t>(content.properties().size()));
  put(static_cast<std::uint8_t>(content.exchange().size()));
  put(static_cast<std::uint8_t>(content.routing_key().size()));
  put(static_cast<std::uint8_t>((content.persistent() ? message_persistent : 0) |
                                (expiration_ms ? message_expires : 0)));
  put(content.priority());
  put_bytes(as_bytes(content.exchange()));
  put_bytes(as_bytes(content.routing_key()));
  put_bytes(content.properties());
  if (content.large() == nullptr) return put_bytes(content.small_body());
  made_.borrowed_bytes_ += content.body_size();
  made_.borrowed_.push_back({made_.bytes_.size(), content.fork()});
}

// -- the kinds

void record_writer::add_group(const group& begun) {
  const auto flags =
      (begun.closes ? group_closes : 0) | (begun.after_crash ? group_after_crash : 0);
  const auto r = begin(record_kind::group, 0, 0, static_cast<std::uint8_t>(flags));
  put(begun.synced_to.segment);
  put(begun.synced_to.offset);
  end(r);
}

void record_writer::add_enqueue(std::span<const queue_place> places, const message& content) {
  const auto r = begin(record_kind::enqueue, places.size());
  put_entries(places);
  put_message(content);
  end(r);
}

void record_writer::add_settle(std::span<const queue_run> runs) {
  const auto r = begin(record_kind::settle, runs.size());
  put_entries(runs);
  end(r);
}

void record_writer::add_move(std::span<const queue_run> runs, std::span<const queue_place> places,
                             const message& content) {
  const auto r = begin(record_kind::move, places.size(), runs.size());
  put_entries(runs);
  put_entries(places);
  put_message(content);
  end(r);
}

void record_writer::add_requeue(std::span<const queue_return> returns) {
  const auto r = begin(record_kind::requeue, returns.size());
  put_entries(returns);
  end(r);
}

void record_writer::add_purge(std::uint64_t queue, sequence end_of_it,
                              std::span<const queue_run> kept) {
  const auto r = begin(record_kind::purge, kept.size());
  put(queue);
  put(end_of_it);
  put_entries(kept);
  end(r);
}

void record_writer::add_define(std::string_view key, std::optional<byte_view> value) {
  const auto r = begin(record_kind::define, 0, 0, value ? define_has_value : 0);
  put(std::uint64_t{key.size()});
  put_bytes(as_bytes(key));
  if (value) put_bytes(*value);
  end(r);
}

void record_writer::add_peer_progress(const peer_progress& progress) {
  const auto r = begin(record_kind::peer_progress, 0);
  put(progress.peer);
  put(progress.epoch);
  put(progress.number);
  end(r);
}

void record_writer::add_relocate(std::span<const queue_place> places, const message& content) {
  const auto r = begin(record_kind::relocate, places.size());
  put_entries(places);
  put_message(content);
  end(r);
}

void record_writer::add_stream_end(const stream_end& valid) {
  const auto r = begin(record_kind::stream_end, 0);
  put(valid.queue);
  put(valid.offset);
  put(valid.end.segment);
  put(valid.end.offset);
  end(r);
}

void record_writer::add_checkpoint(std::span<const index_state> indexes) {
  const auto r = begin(record_kind::checkpoint, indexes.size());
  put_entries(indexes);
  end(r);
}

void record_writer::add_chunk(std::uint64_t queue, std::uint64_t first_offset,
                              std::uint64_t time_ms, std::span<const message> messages) {
  BATON_CHECK(!messages.empty() && messages.size() <= std::numeric_limits<std::uint32_t>::max());
  queue_place where{queue, first_offset};
  where.deadline_ms = time_ms;
  const auto r = begin(record_kind::chunk, 1);
  put_entries(std::span<const queue_place>{&where, 1});
  put(static_cast<std::uint32_t>(messages.size()));
  for (const auto& each : messages) {
    BATON_CHECK(each.large() == nullptr || &each == &messages.back());
    const auto at = made_.bytes_.size();
    put(std::uint32_t{0});  // its size comes when it is known
    put_message(each);
    const auto lent = each.large() == nullptr ? 0 : each.body_size();
    const auto size = made_.bytes_.size() - at - sizeof(std::uint32_t) + lent;
    BATON_CHECK(size <= std::numeric_limits<std::uint32_t>::max());
    store(&made_.bytes_[at], static_cast<std::uint32_t>(size));
  }
  end(r);
}

void record_writer::begin_tx() {
  BATON_CHECK(!tx_);
  parts_ = 0;
  tx_ = begin(record_kind::tx, 0);
}

void record_writer::end_tx() {
  BATON_CHECK(tx_);
  store(&made_.bytes_[tx_->at + count_at], static_cast<std::uint32_t>(parts_));
  end(*tx_);
  tx_.reset();
}

}  // namespace baton::journal
