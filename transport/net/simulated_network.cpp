#include "transport/net/simulated_network.hpp"

#include <algorithm>

#include "config/check.hpp"
#include "transport/net/simulated_connection.hpp"

namespace baton {

namespace {

class simulated_unattached final : public unattached_stream::state {
public:
  explicit simulated_unattached(std::shared_ptr<simulated_connection> connection)
      : connection_{std::move(connection)} {}
  ~simulated_unattached() override {
    if (connection_) connection_->reset("Connection reset by peer");
  }
  endpoint local() const override { return connection_->addresses[1]; }
  endpoint peer() const override { return connection_->addresses[0]; }
  std::shared_ptr<simulated_connection> take() && { return std::move(connection_); }

private:
  std::shared_ptr<simulated_connection> connection_;
};

}  // namespace

// -- the network --------------------------------------------------------------------------------

simulated_network::~simulated_network() { reset_all(); }

std::unique_ptr<simulated_reactor> simulated_network::make_reactor() {
  return std::make_unique<simulated_reactor>(*this);
}

bool simulated_network::can_progress() const noexcept {
  return std::any_of(connections_.begin(), connections_.end(),
                     [](const simulated_connection* one) { return one->can_progress(); });
}

void simulated_network::progress() {
  std::vector<simulated_connection*> able;
  for (simulated_connection* one : connections_)
    if (one->can_progress()) able.push_back(one);
  if (able.empty()) return;
  simulated_connection& chosen = *able[dice_.below(able.size())];
  if (options_.reset_once_in > 0 && dice_.once_in(options_.reset_once_in))
    chosen.reset("Connection reset by peer");
  else
    chosen.progress();
}

void simulated_network::reset_all() {
  for (simulated_connection* one : std::vector{connections_})
    one->reset("Connection reset by peer");
}

// -- a reactor ----------------------------------------------------------------------------------

result<std::unique_ptr<listener>> simulated_reactor::listen(const endpoint& where,
                                                            listener_handler& handler) {
  endpoint chosen = where;
  if (!chosen.is_path() && chosen.port == 0) chosen.port = network_.next_port_++;
  if (network_.listeners_.contains(chosen.text()))
    return failure{error{"cannot listen on " + chosen.text() + ": Address already in use"}};
  return std::unique_ptr<listener>{std::make_unique<simulated_listener>(*this, chosen, handler)};
}

result<std::unique_ptr<stream>> simulated_reactor::connect(const endpoint& where) {
  endpoint mine{where.is_path() ? "/" : where.address, 0};
  if (!where.is_path()) mine.port = network_.next_port_++;
  auto connection = std::make_shared<simulated_connection>(network_, mine, where);
  connection->in_accept = connection;
  return std::unique_ptr<stream>{std::make_unique<simulated_stream>(*this, connection, 0)};
}

std::unique_ptr<stream> simulated_reactor::attach(unattached_stream accepted) {
  auto state = std::move(accepted).release();
  auto* held = dynamic_cast<simulated_unattached*>(state.get());
  BATON_CHECK(held != nullptr);  // the machine's streams belong to the machine's reactors
  return std::make_unique<simulated_stream>(*this, std::move(*held).take(), 1);
}

std::size_t simulated_reactor::dispatch(std::size_t at_most) {
  const std::size_t turns = std::min(at_most, due_.size());
  for (std::size_t i = 0; i < turns && !due_.empty(); ++i) {
    socket& who = *due_[network_.dice_.below(due_.size())];
    who.make_undue();
    who.take_turn();
  }
  return turns;
}

void simulated_reactor::socket::make_due() {
  if (!std::exchange(is_due_, true)) home_.due_.push_back(this);
}

void simulated_reactor::socket::make_undue() {
  if (std::exchange(is_due_, false)) std::erase(home_.due_, this);
}

// -- a connection -------------------------------------------------------------------------------

simulated_connection::simulated_connection(simulated_network& on, endpoint client, endpoint server)
    : network{on}, addresses{std::move(client), std::move(server)} {
  network.connections_.push_back(this);
}

simulated_connection::~simulated_connection() { std::erase(network.connections_, this); }

bool simulated_connection::can_progress() const noexcept {
  if (!failure.empty()) return false;
  return !is_established || pipes[0].can_progress() || pipes[1].can_progress();
}

void simulated_connection::progress() {
  if (!is_established) {
    const auto found = network.listeners_.find(addresses[1].text());
    if (found == network.listeners_.end()) return reset("Connection refused");
    is_established = true;
    found->second->arrive(std::exchange(in_accept, nullptr));
    if (ends[0] != nullptr) ends[0]->update();
    return;
  }
  std::size_t writer = network.dice_.below(2);
  if (!pipes[writer].can_progress()) writer = 1 - writer;
  simulated_pipe& pipe = pipes[writer];
  if (pipe.under_way.empty()) {
    pipe.end_arrived = true;
  } else {
    // Mostly all of it, as in life; else any part.
    const std::size_t all = pipe.under_way.size();
    const auto bytes = network.dice_.once_in(2) ? all : 1 + network.dice_.below(all);
    const auto until = pipe.under_way.begin() + static_cast<std::ptrdiff_t>(bytes);
    if (!pipe.reader_is_gone)
      pipe.arrived.insert(pipe.arrived.end(), pipe.under_way.begin(), until);
    pipe.under_way.erase(pipe.under_way.begin(), until);
  }
  if (ends[1 - writer] != nullptr) ends[1 - writer]->update();
}

void simulated_connection::reset(std::string why) {
  if (!failure.empty()) return;
  const auto keep = std::exchange(in_accept, nullptr);
  failure = std::move(why);
  pipes = {};
  for (simulated_stream* end : ends)
    if (end != nullptr) end->update();
}

// -- its ends -----------------------------------------------------------------------------------

simulated_stream::simulated_stream(simulated_reactor& home,
                                   std::shared_ptr<simulated_connection> connection,
                                   std::size_t end)
    : socket{home}, connection_{std::move(connection)}, end_{end} {
  connection_->ends[end_] = this;
}

simulated_stream::~simulated_stream() {
  connection_->ends[end_] = nullptr;
  if (!connection_->is_established) {
    connection_->reset("closed");
    return;
  }
  outgoing().is_finished = true;
  incoming().reader_is_gone = true;
  incoming().arrived.clear();
}

void simulated_stream::set_handler(stream_handler* handler) {
  handler_ = handler;
  update();
}

io_result simulated_stream::read(std::span<std::uint8_t> into) {
  if (is_broken()) {
    failure_was_told_ = true;
    return {io_status::failed, 0};
  }
  simulated_pipe& pipe = incoming();
  if (pipe.arrived.empty()) {
    end_was_read_ = end_was_read_ || pipe.end_arrived;
    update();
    return {pipe.end_arrived ? io_status::closed : io_status::would_block, 0};
  }
  std::size_t bytes = std::min(into.size(), pipe.arrived.size());
  if (bytes > 1 && home().network().dice_.once_in(4))
    bytes = 1 + home().network().dice_.below(bytes);
  const auto until = pipe.arrived.begin() + static_cast<std::ptrdiff_t>(bytes);
  std::copy(pipe.arrived.begin(), until, into.begin());
  pipe.arrived.erase(pipe.arrived.begin(), until);
  update();
  if (simulated_stream* writer = connection_->ends[1 - end_]) writer->update();
  return {io_status::ok, bytes};
}

io_result simulated_stream::write(std::span<const byte_view> pieces) {
  if (is_broken() || outgoing().reader_is_gone) {
    if (!is_broken()) connection_->reset("Broken pipe");
    failure_was_told_ = true;
    return {io_status::failed, 0};
  }
  std::size_t offered = 0;
  for (const byte_view piece : pieces) offered += piece.size();
  simulated_pipe& pipe = outgoing();
  const std::size_t capacity = home().network().options_.pipe_capacity;
  const std::size_t room =
      connection_->is_established ? capacity - std::min(capacity, pipe.held()) : 0;
  std::size_t bytes = std::min(offered, room);
  if (bytes > 1 && home().network().dice_.once_in(4))
    bytes = 1 + home().network().dice_.below(bytes);
  if (bytes == 0) return {offered == 0 ? io_status::ok : io_status::would_block, 0};
  std::size_t left = bytes;
  for (const byte_view piece : pieces) {
    const std::size_t part = std::min(left, piece.size());
    pipe.under_way.insert(pipe.under_way.end(), piece.begin(),
                          piece.begin() + static_cast<std::ptrdiff_t>(part));
    left -= part;
  }
  return {io_status::ok, bytes};
}

void simulated_stream::notify_writable() {
  wants_writable_ = true;
  update();
}

void simulated_stream::pause_reading() {
  is_paused_ = true;
  update();
}

void simulated_stream::resume_reading() {
  is_paused_ = false;
  update();
}

void simulated_stream::shutdown_write() { outgoing().is_finished = true; }

void simulated_stream::abort() {
  handler_ = nullptr;
  connection_->reset("Connection reset by peer");
}

bool simulated_stream::may_tell_of_room() const noexcept {
  return wants_writable_ && (is_broken() || outgoing().reader_is_gone ||
                             (connection_->is_established &&
                              outgoing().held() < home().network().options_.pipe_capacity));
}

bool simulated_stream::may_tell_of_bytes() const noexcept {
  if (is_paused_) return false;
  if (is_broken()) return !failure_was_told_;
  return !incoming().arrived.empty() || (incoming().end_arrived && !end_was_read_);
}

void simulated_stream::update() {
  if (handler_ != nullptr && (may_tell_of_room() || may_tell_of_bytes()))
    make_due();
  else
    make_undue();
}

void simulated_stream::take_turn() {
  if (handler_ == nullptr) return;
  if (may_tell_of_room()) {
    wants_writable_ = false;
    update();
    handler_->on_writable();
  } else if (may_tell_of_bytes()) {
    make_due();
    handler_->on_readable();
  }
}

// -- a listener ---------------------------------------------------------------------------------

simulated_listener::simulated_listener(simulated_reactor& home, endpoint where,
                                       listener_handler& handler)
    : socket{home}, where_{std::move(where)}, handler_{handler} {
  home.network().listeners_[where_.text()] = this;
}

simulated_listener::~simulated_listener() {
  home().network().listeners_.erase(where_.text());
  for (const auto& one : waiting_) one->reset("Connection reset by peer");
}

void simulated_listener::resume() {
  is_paused_ = false;
  if (!waiting_.empty()) make_due();
}

void simulated_listener::arrive(std::shared_ptr<simulated_connection> connection) {
  waiting_.push_back(std::move(connection));
  if (!is_paused_) make_due();
}

void simulated_listener::take_turn() {
  if (is_paused_ || waiting_.empty()) return;
  auto accepted = std::move(waiting_.front());
  waiting_.pop_front();
  if (!waiting_.empty()) make_due();
  handler_.on_accept(
      unattached_stream{std::make_unique<simulated_unattached>(std::move(accepted))});
}

}  // namespace baton
