#pragma once

#include <string_view>

namespace baton::service_manager {

/// Tells systemd, where that started this process with Type=notify; elsewhere does nothing.
/// `state`: "READY=1", "STOPPING=1" (sd_notify(3)).
void notify(std::string_view state);

}  // namespace baton::service_manager
