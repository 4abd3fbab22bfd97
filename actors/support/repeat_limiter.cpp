#include "actors/support/repeat_limiter.hpp"

namespace baton {

std::optional<std::uint64_t> repeat_limiter::admit(std::string_view kind, time_point now) {
  if (limit_ == 0) return 0;
  auto [at, first] = kinds_.try_emplace(std::string{kind}, count{now, 0});
  auto& c = at->second;
  std::uint64_t left_out = 0;
  if (!first && now - c.since >= interval_) {
    left_out = c.seen > limit_ ? c.seen - limit_ : 0;
    c = {now, 0};
  }
  if (++c.seen > limit_) return std::nullopt;
  return left_out;
}

}  // namespace baton
