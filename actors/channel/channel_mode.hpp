#pragma once

#include <cstdint>
#include <string_view>

#include "config/result.hpp"

namespace baton {

/// What an AMQP 0-9-1 channel promises about publishes: nothing, a confirm for each, or a
/// transaction. Once chosen it stays.
class channel_mode {
public:
  bool confirms() const noexcept { return now_ == mode::confirm; }
  bool transactional() const noexcept { return now_ == mode::transaction; }

  /// confirm.select and tx.select; again is fine. A refusal is the text of a 406.
  result<void, std::string_view> select_confirm() {
    if (now_ == mode::transaction) return failure{"cannot switch from tx to confirm mode"};
    now_ = mode::confirm;
    return {};
  }
  result<void, std::string_view> select_transaction() {
    if (now_ == mode::confirm) return failure{"cannot switch from confirm to tx mode"};
    now_ = mode::transaction;
    return {};
  }
  /// tx.commit and tx.rollback need one.
  result<void, std::string_view> need_transaction() const {
    if (now_ != mode::transaction) return failure{"channel is not transactional"};
    return {};
  }

private:
  enum class mode : std::uint8_t { plain, confirm, transaction };

  mode now_ = mode::plain;
};

}  // namespace baton
