// The floor that a broker is measured against: takes bytes from a publisher and gives them to a
// consumer, without looking at them: what is read from a connection to PORT is written to one to
// PORT + 1, a pair at a time. Driven by `baton perf throughput|latency --uri
// relay://127.0.0.1:PORT`.
//
//   relay PORT        prints "ready PORT" when it listens
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int listen_on(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(fd, 128) != 0) {
    std::perror("relay: listen");
    std::exit(1);
  }
  return fd;
}

/// Blocks until all is written, as a relay with nothing else to do may; false: the reader has gone.
bool write_all(int fd, const char* bytes, ssize_t left) {
  for (ssize_t put = 0; left > 0; bytes += put, left -= put)
    if ((put = send(fd, bytes, static_cast<std::size_t>(left), MSG_NOSIGNAL)) <= 0) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const int port = argc == 2 ? std::atoi(argv[1]) : 0;
  if (port <= 0) return std::fputs("usage: relay PORT\n", stderr), 2;
  const int from = listen_on(port), to = listen_on(port + 1);
  std::printf("ready %d\n", port);
  std::fflush(stdout);
  std::vector<char> buffer(128 * 1024);
  for (;;) {
    const int source = accept(from, nullptr, nullptr), sink = accept(to, nullptr, nullptr), yes = 1;
    setsockopt(sink, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    for (ssize_t got; (got = read(source, buffer.data(), buffer.size())) > 0;)
      if (!write_all(sink, buffer.data(), got)) break;
    close(source);
    close(sink);
  }
}
