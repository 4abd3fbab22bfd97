#include "config/settings.hpp"

namespace baton {

settings default_settings() {
  settings made;
  made.listeners.emplace_back();
  user_settings guest;
  guest.name = "guest";
  guest.password = "guest";
  guest.loopback_only = true;
  guest.tags = {"administrator"};
  made.users.push_back(std::move(guest));
  return made;
}

}  // namespace baton
