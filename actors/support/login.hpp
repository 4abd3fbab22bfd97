#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/settings.hpp"

namespace baton {

/// Who may log in. Plain passwords are kept as keyed hashes, and so is each password that was once
/// verified against a stored Argon2id hash: a reconnect costs microseconds, not the 50 ms and more
/// that a password hash is made to cost. The key is random and lives as long as this object.
///
/// May be asked from any thread.
class login_register {
public:
  enum class verdict : std::uint8_t {
    accepted,
    refused,
    /// Only `check_slowly()` can tell. Not on a loop.
    unknown,
  };

  explicit login_register(const std::vector<user_settings>& users);

  /// At once: `unknown` where a stored hash has to be computed. A loopback-only user from elsewhere
  /// is refused like a wrong password.
  verdict check(std::string_view user, std::string_view password, bool from_loopback) const;

  /// Computes the stored hash of `user` for `password`: blocks for 50 ms and more, needs tens of
  /// MiB. Never answers `unknown`.
  verdict check_slowly(std::string_view user, std::string_view password, bool from_loopback);

private:
  using digest = std::array<unsigned char, 32>;
  struct account {
    std::string stored_hash;  // empty: plain
    digest known{};           // of the plain, or of the verified password
    bool has_known = false;
    bool loopback_only = false;
  };

  digest keyed(std::string_view user, std::string_view password) const;

  std::array<unsigned char, 32> key_;
  std::unordered_map<std::string, account> accounts_;
  mutable std::mutex guard_;  // of `known`: a login is no part of the data path
};

}  // namespace baton
