#include "actors/support/login.hpp"

#include <sodium.h>

#include <stdexcept>

namespace baton {

login_register::login_register(const std::vector<user_settings>& users) {
  if (sodium_init() < 0) throw std::runtime_error{"libsodium cannot be initialised"};
  randombytes_buf(key_.data(), key_.size());
  for (const auto& user : users) {
    account a;
    a.stored_hash = user.password_hash;
    a.loopback_only = user.loopback_only;
    if (a.stored_hash.empty()) {
      a.known = keyed(user.name, user.password);
      a.has_known = true;
    }
    accounts_.emplace(user.name, std::move(a));
  }
}

login_register::digest login_register::keyed(std::string_view user,
                                             std::string_view password) const {
  crypto_generichash_state state;
  crypto_generichash_init(&state, key_.data(), key_.size(), std::tuple_size_v<digest>);
  // The length keeps user "ab", password "c" apart from user "a", password "bc".
  const std::uint64_t user_size = user.size();
  crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(&user_size),
                            sizeof user_size);
  for (auto part : {user, password})
    crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(part.data()),
                              part.size());
  digest made;
  crypto_generichash_final(&state, made.data(), made.size());
  return made;
}

login_register::verdict login_register::check(std::string_view user, std::string_view password,
                                              bool from_loopback) const {
  auto given = keyed(user, password);
  auto at = accounts_.find(std::string{user});
  if (at == accounts_.end()) return verdict::refused;
  const auto& known = at->second;
  if (known.loopback_only && !from_loopback) return verdict::refused;
  std::scoped_lock lock{guard_};
  if (known.has_known && sodium_memcmp(given.data(), known.known.data(), given.size()) == 0)
    return verdict::accepted;
  return known.stored_hash.empty() ? verdict::refused : verdict::unknown;
}

login_register::verdict login_register::check_slowly(std::string_view user,
                                                     std::string_view password,
                                                     bool from_loopback) {
  if (auto quick = check(user, password, from_loopback); quick != verdict::unknown) return quick;
  auto& owner = accounts_.find(std::string{user})->second;
  if (crypto_pwhash_str_verify(owner.stored_hash.c_str(), password.data(), password.size()) != 0)
    return verdict::refused;
  std::scoped_lock lock{guard_};
  owner.known = keyed(user, password);
  owner.has_known = true;
  return verdict::accepted;
}

}  // namespace baton
