#include "actors/queue/queue_refusal.hpp"

#include "config/check.hpp"

namespace baton {

std::string to_string(queue_refusal why, std::string_view queue, std::string_view vhost) {
  auto name = "queue '" + std::string{queue} + "' in vhost '" + std::string{vhost} + "'";
  switch (why) {
    case queue_refusal::in_exclusive_use:
      return name + " in exclusive use";
    case queue_refusal::in_use:
      return name + " in use";
    case queue_refusal::not_empty:
      return name + " not empty";
    case queue_refusal::closed:
      return "no " + name;
  }
  fail_check(__FILE__, __LINE__, "a refusal has a text");
}

refusal refusal_of(queue_refusal why, std::string_view queue, std::string_view vhost) {
  const auto code = why == queue_refusal::in_exclusive_use ? refusal::access_refused
                    : why == queue_refusal::closed         ? refusal::not_found
                                                           : refusal::precondition_failed;
  return {code, to_string(why, queue, vhost)};
}

}  // namespace baton
