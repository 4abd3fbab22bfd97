#include "actors/topology/permissions.hpp"

#include <algorithm>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // gcc 12 about <regex>, with sanitizers
#endif
#include <regex>
#include <utility>

namespace baton {

struct name_pattern::compiled {
  std::regex expression;
};

result<name_pattern> name_pattern::parse(std::string expression) {
  name_pattern made;
  made.everything_ = expression == ".*" || expression == "^.*$" || expression == "^.*";
  if (!expression.empty() && !made.everything_) {
    try {
      made.compiled_ = std::make_shared<const compiled>(
          compiled{std::regex{expression, std::regex::ECMAScript | std::regex::optimize}});
    } catch (const std::regex_error& wrong) {  // std::regex has no other way to say so
      return failure{error{"'" + expression + "' is no regular expression: " + wrong.what()}};
    }
  }
  made.expression_ = std::move(expression);
  return made;
}

bool name_pattern::matches(std::string_view name) const {
  if (everything_) return true;
  if (compiled_ == nullptr) return false;
  try {
    return std::regex_search(name.begin(), name.end(), compiled_->expression);
  } catch (const std::regex_error&) {  // too complex for this name: grants nothing
    return false;
  }
}

bool user::has_tag(std::string_view tag) const noexcept {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

bool user::may(permission kind, std::string_view vhost, std::string_view resource) const {
  if (everywhere) return true;
  const vhost_permissions* here = by_vhost.find(vhost);
  return here != nullptr && here->pattern(kind).matches(resource);
}

std::optional<refusal> check_permission(const user* who, std::string_view user_name,
                                        permission kind, resource_kind resource,
                                        std::string_view name, std::string_view vhost) {
  if (resource == resource_kind::exchange && name.empty()) name = "amq.default";
  if (who != nullptr && who->may(kind, vhost, name)) return std::nullopt;
  std::string text = kind == permission::configure ? "configure"
                     : kind == permission::write   ? "write"
                                                   : "read";
  text.append(" access to ")
      .append(resource_text(resource == resource_kind::queue ? "queue" : "exchange", name, vhost))
      .append(" refused for user '")
      .append(user_name)
      .append("'");
  return refusal{refusal::access_refused, std::move(text)};
}

std::string vhost_refused_text(std::string_view vhost, std::string_view user_name) {
  return std::string{"access to vhost '"}
      .append(vhost)
      .append("' refused for user '")
      .append(user_name)
      .append("'");
}

std::optional<refusal> permission_cache::check(const user* who, std::string_view user_name,
                                               std::string_view name, std::string_view vhost) {
  if (who != nullptr && who->everywhere) return std::nullopt;
  const std::uint64_t revision = who == nullptr ? 0 : who->revision;
  if (revision != revision_) {
    allowed_.clear();
    revision_ = revision;
  }
  if (std::find(allowed_.rbegin(), allowed_.rend(), name) != allowed_.rend()) return std::nullopt;
  auto refused = check_permission(who, user_name, kind_, resource_, name, vhost);
  if (!refused) {
    if (allowed_.size() == capacity) allowed_.erase(allowed_.begin());
    allowed_.emplace_back(name);
  }
  return refused;
}

}  // namespace baton
