#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/topology/persistent_map.hpp"
#include "actors/topology/refusal.hpp"
#include "actors/topology/shared.hpp"
#include "config/result.hpp"

namespace baton {

struct vhost;

/// A set of names, given as a regular expression (ECMAScript's grammar) that is searched for
/// anywhere in a name; an empty one matches nothing. May be used by several threads.
class name_pattern {
public:
  /// No names.
  name_pattern() = default;
  /// The error says what is wrong with the expression.
  static result<name_pattern> parse(std::string expression);

  bool matches(std::string_view name) const;
  const std::string& expression() const noexcept { return expression_; }

private:
  struct compiled;  // std::regex, out of this header

  std::string expression_;
  bool everything_ = false;  // ".*", which is what most users have
  std::shared_ptr<const compiled> compiled_;
};

enum class permission : std::uint8_t { configure, write, read };
enum class resource_kind : std::uint8_t { exchange, queue };

/// What a user may do in one virtual host.
struct vhost_permissions {
  name_pattern configure;
  name_pattern write;
  name_pattern read;

  const name_pattern& pattern(permission kind) const noexcept {
    return kind == permission::configure ? configure : kind == permission::write ? write : read;
  }
};

struct user {
  std::string name;
  std::string password_hash;  ///< opaque here; verified where passwords are
  bool loopback_only = false;
  std::vector<std::string> tags;
  bool everywhere = false;  ///< may do everything in every virtual host
  persistent_map<std::string, vhost_permissions> by_vhost;
  std::uint64_t revision = 0;  ///< another one whenever anything about the user changed

  bool has_tag(std::string_view tag) const noexcept;
  /// May open a connection to that virtual host.
  bool may_enter(std::string_view vhost) const noexcept {
    return everywhere || by_vhost.find(vhost) != nullptr;
  }
  /// A user that may only come from this machine is refused elsewhere as if the password was wrong.
  bool may_come_from(bool loopback) const noexcept { return loopback || !loopback_only; }
  bool may(permission kind, std::string_view vhost, std::string_view name) const;
};

/// Nothing, or 403 `write access to exchange 'e' in vhost '/' refused for user 'u'` (the text of
/// RabbitMQ 4; 3.10 leaves the first word out). The default exchange, "", is called `amq.default`,
/// in patterns as in texts. `who == nullptr` is a user that has been deleted: may nothing.
std::optional<refusal> check_permission(const user* who, std::string_view user_name,
                                        permission kind, resource_kind resource,
                                        std::string_view name, std::string_view vhost);

/// For connection.open, without the code (530): `access to vhost '/' refused for user 'u'`.
std::string vhost_refused_text(std::string_view vhost, std::string_view user_name);

/// The last few answers to "may this connection's user write to that exchange", for publishing:
/// an answer costs a short comparison instead of a regular expression.
class permission_cache {
public:
  permission_cache(permission kind, resource_kind resource) : kind_{kind}, resource_{resource} {}

  /// As check_permission. `who` comes from the snapshot in use.
  std::optional<refusal> check(const user* who, std::string_view user_name, std::string_view name,
                               std::string_view vhost);

private:
  static constexpr std::size_t capacity = 12;

  permission kind_;
  resource_kind resource_;
  std::uint64_t revision_ = 0;        // of the user that the answers are about
  std::vector<std::string> allowed_;  // most recent last
};

}  // namespace baton
