#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/topology/refusal.hpp"
#include "config/result.hpp"
#include "storage/byte_view.hpp"

namespace baton {

/// What a router has to know of a message's properties, read once as it comes in. All views borrow
/// from the encoding that was read.
struct publish_properties {
  bool persistent = false;
  std::uint8_t priority = 0;
  std::optional<std::uint64_t> expiration_ms;
  std::optional<std::string_view> user_id;
  std::string_view reply_to;
  bool has_headers = false;
  byte_view headers;  // entries of the table
  bool has_bcc = false;
  std::vector<std::string_view> extra_keys;  // of CC and BCC

  /// 406 for the first value that means nothing: an expiration that is no number, a delivery mode
  /// of 3, CC or BCC that are no arrays. All else is read nonetheless: what is wrong with the
  /// exchange, or with reply-to, comes before it.
  std::optional<refusal> refused;

  /// `encoded` is well formed.
  static publish_properties read(byte_view encoded);

  std::span<const std::string_view> more_keys() const noexcept { return extra_keys; }

  /// The encoding without BCC and, where `reply_to` is not empty and the message asks for direct
  /// replies, with that name for them. All else stays byte for byte.
  std::string rewritten(byte_view encoded, std::string_view direct_reply_to) const;
};

/// Reads the properties of one publish after the other. Those that are byte for byte the last ones,
/// as is usual in a row of publishes, are not read again.
class publish_properties_reader {
public:
  /// As `publish_properties::read`. Valid until the next call, or until `encoded` goes.
  const publish_properties& read(byte_view encoded) {
    if (encoded.size() == 2) return none_;
    if (known_ && as_text(encoded) == last_) return read_;
    return read_anew(encoded);
  }

private:
  static constexpr std::size_t longest_remembered = 256;

  const publish_properties& read_anew(byte_view encoded) {
    known_ = encoded.size() <= longest_remembered;
    if (known_) last_.assign(as_text(encoded));
    return read_ = publish_properties::read(known_ ? as_bytes(last_) : encoded);
  }

  const publish_properties none_{};
  bool known_ = false;
  std::string last_;  // `read_` borrows from it
  publish_properties read_;
};

}  // namespace baton
