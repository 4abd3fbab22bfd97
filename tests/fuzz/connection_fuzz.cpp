// Any bytes at any moment of a connection's life, cut in two anywhere, with publishes held in
// between: the machine neither crashes nor writes broken frames nor keeps more than it was given.
// The same bytes to a client's machine.
#include <algorithm>
#include <cstdlib>

#include "tests/transport/amqp091/server_fixture.hpp"
#include "transport/amqp091/client_connection.hpp"

using namespace baton;
using namespace baton::amqp091;
using namespace baton::amqp091::test;

namespace {

struct quiet_client : client_handler {
  void opened() override {}
  void closed(std::uint16_t, std::string_view) override {}
  void channel_opened(std::uint16_t) override {}
  void channel_closed(std::uint16_t, std::uint16_t, std::string_view) override {}
};

void feed_server(bool running, bool hold, std::size_t cut, byte_view bytes) {
  server_fixture server;
  server.settings.max_message_size = 10'000;
  server.handler.waits = hold ? 1 : 0;
  if (running) server.run({}, 3, 4096);
  cut = std::min(cut, bytes.size());
  server.machine.hold_publishes(hold);
  server.feed(bytes.first(cut));
  server.feed(bytes.subspan(cut));
  if (server.machine.buffered() + server.machine.reserve_used() > bytes.size()) std::abort();
  server.machine.hold_publishes(false);
  server.machine.hold_publishes(false);
  if (server.machine.reserve_used() != 0 && server.machine.ending() == ending::none &&
      !server.machine.publishes_held())
    std::abort();
  if (server.answers().find("BROKEN") != std::string::npos) std::abort();
}

void feed_client(std::size_t cut, byte_view bytes) {
  output_buffer out;
  quiet_client handler;
  client_connection client{{.max_message_size = 10'000}, handler, out};
  client.start();
  cut = std::min(cut, bytes.size());
  client.feed(bytes.first(cut));
  client.open_channel(1);
  client.feed(bytes.subspan(cut));
}

}  // namespace

/// The first byte chooses: bit 0 a running connection, bit 1 publishes held, the rest (times 4)
/// where the input is cut.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const byte_view bytes{data + 1, size - 1};
  const std::size_t cut = data[0] & ~3u;
  feed_server((data[0] & 1) != 0, (data[0] & 2) != 0, cut, bytes);
  feed_client(cut, bytes);
  return 0;
}
