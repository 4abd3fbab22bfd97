#include "cli/control_client.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "actors/management/control_socket.hpp"

namespace baton {

namespace {

struct descriptor {
  int number = -1;
  ~descriptor() {
    if (number >= 0) ::close(number);
  }
};

failure<error> system_failure(const std::string& what) {
  return failure{error{what + ": " + std::strerror(errno)}};
}

}  // namespace

result<std::string> ask_node(const std::filesystem::path& data_folder,
                             const json::control_request& asked) {
  auto path = control_socket_path(data_folder).string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return failure{error{path + ": longer than the " + std::to_string(sizeof address.sun_path - 1) +
                         " bytes that the path of a Unix socket may have"}};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);

  descriptor node{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (node.number < 0) return system_failure("socket");
  if (::connect(node.number, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return system_failure("no node answers at " + path);

  const auto line = json::text_of(asked) + '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    auto n = ::send(node.number, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR) return system_failure(path);
    if (n > 0) sent += static_cast<std::size_t>(n);
  }

  std::string answer;
  char buffer[16 << 10];
  while (answer.empty() || answer.back() != '\n') {
    auto n = ::recv(node.number, buffer, sizeof buffer, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_failure(path);
    if (n == 0 && answer.empty()) return answer;
    if (n == 0) return failure{error{path + ": the node ended in the middle of its answer"}};
    answer.append(buffer, static_cast<std::size_t>(n));
  }
  answer.pop_back();
  return answer;
}

}  // namespace baton
