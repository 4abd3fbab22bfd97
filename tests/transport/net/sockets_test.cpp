// Real sockets on the loopback, one thread: both ends are driven by the test.

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.hpp"
#include "transport/net/reactor.hpp"

namespace {

using namespace baton;

/// Remembers what its stream reports; reads everything unless told otherwise.
struct recorder final : stream_handler {
  void on_readable() override {
    ++readable;
    if (before_reading && !before_reading()) return;
    std::uint8_t buffer[4096];
    const io_result got = self->read(buffer);
    ++reads;
    if (got.status == io_status::ok) received.append(buffer, buffer + got.bytes);
    if (got.status == io_status::closed) is_closed = true;
    if (got.status == io_status::failed) failure = self->failure();
  }
  void on_writable() override { ++writable; }

  void own(std::unique_ptr<stream> taken) {
    self = std::move(taken);
    self->set_handler(this);
  }

  std::unique_ptr<stream> self;
  std::function<bool()> before_reading;
  std::string received;
  std::string failure;
  bool is_closed = false;
  int readable = 0, writable = 0, reads = 0;
};

struct acceptor final : listener_handler {
  explicit acceptor(reactor& on) : home{on} {}
  void on_accept(unattached_stream one) override {
    accepted.push_back(std::make_unique<recorder>());
    accepted.back()->own(home.attach(std::move(one)));
  }
  void on_accept_blocked(const error& why) override { blocked.push_back(why.text); }
  void on_accept_recovered() override { ++recovered; }

  reactor& home;
  std::vector<std::unique_ptr<recorder>> accepted;
  std::vector<std::string> blocked;
  int recovered = 0;
};

struct net {
  net() : sockets{std::move(*make_system_reactor(time))}, server{*sockets} {}

  void listen(const endpoint& where = {"127.0.0.1", 0}) {
    auto made = sockets->listen(where, server);
    REQUIRE(made);
    door = std::move(*made);
  }
  /// A connected pair: the client's end, and the last of `server.accepted`.
  std::unique_ptr<recorder> connect() {
    const std::size_t before = server.accepted.size();
    auto client = std::make_unique<recorder>();
    auto made = sockets->connect(door->local());
    REQUIRE(made);
    client->own(std::move(*made));
    client->self->notify_writable();
    run_until([&] { return client->writable == 1 && server.accepted.size() > before; });
    return client;
  }
  recorder& last() { return *server.accepted.back(); }

  void run_until(const std::function<bool()>& condition) {
    for (int i = 0; i < 2'000 && !condition(); ++i) {
      sockets->wait(std::chrono::milliseconds{20});
      sockets->dispatch(64);
    }
    REQUIRE(condition());
  }
  /// Lets everything happen that is ready now.
  void settle() {
    for (int i = 0; i < 20; ++i) {
      sockets->wait(std::chrono::milliseconds{1});
      sockets->dispatch(64);
    }
  }

  machine_clock time;
  std::unique_ptr<reactor> sockets;
  acceptor server;
  std::unique_ptr<listener> door;
};

std::size_t write_text(stream& to, std::string_view text) {
  const byte_view piece = as_bytes(text);
  return to.write({&piece, 1}).bytes;
}

}  // namespace

TEST_CASE("bytes written at one end of a TCP stream are read at the other") {
  net n;
  n.listen();
  const auto client = n.connect();
  const byte_view pieces[] = {as_bytes("one "), as_bytes(""), as_bytes("two")};
  CHECK(client->self->write(pieces).bytes == 7);
  n.run_until([&] { return n.last().received == "one two"; });
  write_text(*n.last().self, "back");
  n.run_until([&] { return client->received == "back"; });
  CHECK(client->self->peer() == n.door->local());
  CHECK(client->self->local() == n.last().self->peer());
}

TEST_CASE("a Unix socket carries bytes, and its path is taken over from a dead process") {
  const std::string path = "/tmp/baton-sockets-test-" + std::to_string(::getpid());
  {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const int dead = ::socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(::bind(dead, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    ::close(dead);  // leaves the file
  }
  net n;
  n.listen({path, 0});
  const auto client = n.connect();
  write_text(*client->self, "hello");
  n.run_until([&] { return n.last().received == "hello"; });
  CHECK(n.door->local().text() == "unix:" + path);
  CHECK_FALSE(n.sockets->listen({path, 0}, n.server));  // somebody serves it
  n.door.reset();
  CHECK(::access(path.c_str(), F_OK) != 0);
}

TEST_CASE("more pieces than one system call takes are all written") {
  net n;
  n.listen();
  const auto client = n.connect();
  const std::vector<byte_view> pieces(5'000, as_bytes("x"));
  CHECK(client->self->write(pieces).bytes == pieces.size());
  n.run_until([&] { return n.last().received.size() == pieces.size(); });
}

TEST_CASE("a read that does not fill its buffer is followed by no second one") {
  net n;
  n.listen();
  const auto client = n.connect();
  write_text(*client->self, "short");
  n.run_until([&] { return n.last().received == "short"; });
  n.settle();
  CHECK(n.last().reads == 1);
  CHECK(n.last().readable == 1);
}

TEST_CASE("what a handler leaves unread is reported again in the next dispatch") {
  net n;
  n.listen();
  const auto client = n.connect();
  const std::string text(20'000, 'x');  // five reads of the recorder
  write_text(*client->self, text);
  n.run_until([&] { return n.last().received.size() == text.size(); });
  CHECK(n.last().readable >= 5);
}

TEST_CASE("a writer that is not read from is told when there is room again") {
  net n;
  n.listen();
  const auto client = n.connect();
  n.last().self->pause_reading();
  const std::string block(1 << 20, 'x');
  std::size_t sent = 0;
  for (std::size_t more = block.size(); more == block.size(); sent += more)
    more = write_text(*client->self, block);
  const byte_view piece = as_bytes(block);
  CHECK(client->self->write({&piece, 1}).status == io_status::would_block);
  client->self->notify_writable();
  n.settle();
  CHECK(client->writable == 1);  // from connecting
  CHECK(n.last().received.empty());
  n.last().self->resume_reading();
  n.run_until([&] { return client->writable == 2; });
  n.run_until([&] { return n.last().received.size() == sent; });
}

TEST_CASE("asking for room where there is some is answered") {
  net n;
  n.listen();
  const auto client = n.connect();
  n.settle();
  client->self->notify_writable();
  n.run_until([&] { return client->writable == 2; });
}

TEST_CASE("the end is read behind the last bytes, and the other direction goes on") {
  net n;
  n.listen();
  const auto client = n.connect();
  write_text(*client->self, "last words");
  client->self->shutdown_write();
  n.run_until([&] { return n.last().is_closed; });
  CHECK(n.last().received == "last words");
  write_text(*n.last().self, "answer");
  n.run_until([&] { return client->received == "answer"; });
  n.last().self.reset();
  n.run_until([&] { return client->is_closed; });
}

TEST_CASE("an aborted stream is a failure at the other end") {
  net n;
  n.listen();
  const auto client = n.connect();
  client->self->abort();
  n.run_until([&] { return !n.last().failure.empty(); });
  CHECK(n.last().failure == "Connection reset by peer");
}

TEST_CASE("a connection that is refused is reported with its reason") {
  net n;
  n.listen();
  const endpoint where = n.door->local();
  n.door.reset();
  recorder client;
  auto made = n.sockets->connect(where);
  if (!made) return;  // refused at once
  client.own(std::move(*made));
  client.self->notify_writable();
  n.run_until([&] { return client.writable == 1; });
  n.run_until([&] { return !client.failure.empty(); });
  CHECK(client.failure == "Connection refused");
  const byte_view piece = as_bytes("x");
  CHECK(client.self->write({&piece, 1}).status == io_status::failed);
}

TEST_CASE("a stream may be destroyed by its own handler") {
  net n;
  n.listen();
  const auto client = n.connect();
  recorder& server = n.last();
  server.before_reading = [&] {
    server.self.reset();
    return false;
  };
  write_text(*client->self, "bye");
  n.run_until([&] { return server.self == nullptr; });
  n.run_until([&] { return client->is_closed || !client->failure.empty(); });
}

TEST_CASE("a handler may destroy another stream that is due") {
  net n;
  n.listen();
  const auto one = n.connect();
  recorder& first = n.last();
  const auto two = n.connect();
  recorder& second = n.last();
  first.before_reading = [&] {
    second.self.reset();
    return true;
  };
  second.before_reading = [&] {
    first.self.reset();
    return second.self != nullptr;
  };
  write_text(*one->self, "1");
  write_text(*two->self, "2");
  n.run_until([&] { return !first.self || !second.self; });
  n.settle();
  CHECK((first.self == nullptr) != (second.self == nullptr));
}

TEST_CASE("a paused listener leaves connections waiting until it goes on") {
  net n;
  n.listen();
  n.door->pause();
  auto made = n.sockets->connect(n.door->local());
  REQUIRE(made);
  n.settle();
  CHECK(n.server.accepted.empty());
  n.door->resume();
  n.run_until([&] { return n.server.accepted.size() == 1; });
}

TEST_CASE("without file descriptors a listener says so once, and recovers when one is closed") {
  net n;
  n.listen();
  std::vector<std::unique_ptr<stream>> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(std::move(*n.sockets->connect(n.door->local())));

  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const int next = ::dup(0);
  ::close(next);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(next);
  ::setrlimit(RLIMIT_NOFILE, &none);
  n.settle();
  const bool was_blocked = n.server.blocked.size() == 1 && n.server.accepted.empty();
  clients.pop_back();  // frees one
  n.settle();
  const std::size_t accepted = n.server.accepted.size();
  ::setrlimit(RLIMIT_NOFILE, &before);

  CHECK(was_blocked);
  CHECK(n.server.blocked.front().find("Too many open files") != std::string::npos);
  CHECK(accepted == 1);
  n.run_until([&] { return n.server.accepted.size() == 3; });
  CHECK(n.server.recovered >= 1);
}

TEST_CASE("an accepted connection may be attached to another thread's reactor") {
  net n;
  struct passer final : listener_handler {
    void on_accept(unattached_stream one) override { passed.push_back(std::move(one)); }
    void on_accept_blocked(const error&) override {}
    void on_accept_recovered() override {}
    std::vector<unattached_stream> passed;
  } door_keeper;
  auto door = n.sockets->listen({"127.0.0.1", 0}, door_keeper);
  REQUIRE(door);
  auto client = n.sockets->connect((*door)->local());
  REQUIRE(client);
  n.run_until([&] { return !door_keeper.passed.empty(); });
  CHECK(door_keeper.passed.front().peer() == (*client)->local());
  std::thread other{[&] {
    auto sockets = std::move(*make_system_reactor(n.time));
    auto attached = sockets->attach(std::move(door_keeper.passed.front()));
    write_text(*attached, "from afar");
  }};
  other.join();
  recorder reader;
  reader.own(std::move(*client));
  n.run_until([&] { return reader.received == "from afar"; });
}

TEST_CASE("a wake-up ends a wait, also one that has not begun") {
  net n;
  n.sockets->wake();
  n.sockets->wait(std::chrono::nanoseconds{-1});
  std::thread other{[&] { n.sockets->wake(); }};
  n.sockets->wait(std::chrono::nanoseconds{-1});
  other.join();
}

TEST_CASE("what cannot be listened on is an error that names it") {
  net n;
  n.listen();
  const auto twice = n.sockets->listen(n.door->local(), n.server);
  REQUIRE_FALSE(twice);
  CHECK(twice.reason().text ==
        "cannot listen on " + n.door->local().text() + ": Address already in use");
  CHECK_FALSE(n.sockets->listen({"localhost", 1}, n.server));
  CHECK_FALSE(n.sockets->listen({"/" + std::string(200, 'x'), 0}, n.server));
}

TEST_CASE("an endpoint is written as people write it") {
  CHECK(endpoint{"127.0.0.1", 5672}.text() == "127.0.0.1:5672");
  CHECK(endpoint{"::1", 5672}.text() == "[::1]:5672");
  CHECK(endpoint{"/run/baton", 0}.text() == "unix:/run/baton");
  CHECK(endpoint{"127.3.2.1", 1}.is_loopback());
  CHECK(endpoint{"::1", 1}.is_loopback());
  CHECK_FALSE(endpoint{"10.0.0.1", 1}.is_loopback());
}

TEST_CASE("a numeric address resolves to itself, an impossible name to a reason") {
  const auto numeric = resolve("127.0.0.1", 80);
  REQUIRE(numeric);
  CHECK(*numeric == std::vector{endpoint{"127.0.0.1", 80}});
  CHECK_FALSE(resolve("no such host", 80));
}
