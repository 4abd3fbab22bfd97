#include "actors/node.hpp"

#include <sodium.h>

#include <chrono>
#include <filesystem>
#include <future>

#include "actors/local/local_session.hpp"
#include "actors/management/control_actor.hpp"
#include "actors/node_services.hpp"
#include "actors/node_storage.hpp"
#include "actors/supervisor.hpp"
#include "actors/support/log.hpp"
#include "actors/topology_actor.hpp"
#include "storage/files/system_file_system.hpp"

namespace baton {

namespace {

class session_handle final : public local_handle {
public:
  explicit session_handle(local_session_ref to) : to_{std::move(to)} {}
  void post(work run) override { to_.send(local_work{std::move(run)}); }

private:
  local_session_ref to_;
};

std::uint64_t random_number() {
  std::uint64_t number = 0;
  randombytes_buf(&number, sizeof number);
  return number;
}

/// Milliseconds since 1970 less those of the loops' clock.
std::chrono::milliseconds wall_offset(const runtime& loops) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  return duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()) -
         duration_cast<milliseconds>(loops.time().now().time_since_epoch());
}

/// Waits until `ask(token)` has had its effect: until all copies of the token are gone.
template <class Ask>
void wait_for(Ask&& ask) {
  std::promise<void> done;
  ask(std::shared_ptr<const void>{nullptr, [&done](const void*) { done.set_value(); }});
  done.get_future().wait();
}

}  // namespace

struct node::parts {
  settings configured;
  system_file_system files;
  std::unique_ptr<node_storage> storage;
  std::unique_ptr<threaded_runtime> loops;
  std::unique_ptr<node_services> services;
  control_ref control;
  std::vector<std::string> listeners;
  std::function<void()> on_stopped;
  std::promise<void> drained;
  bool joined = false;

  /// All that clients did is in the journal, and the journal is complete.
  void close_journal() {
    wait_for([this](auto done) { services->topology.send(finish{std::move(done)}); });
    wait_for([this](auto done) { services->store.send(baton::close_journal{std::move(done)}); });
  }

  void stop_loops() {
    if (services != nullptr) {
      services->store = {};
      services->reader = {};
      services->stream_reader = {};
      services->topology = {};
      services->supervisor = {};
    }
    control = {};
    if (loops != nullptr) loops->stop();
    services.reset();
    loops.reset();
    storage.reset();
  }
};

node::node(settings configured) : parts_{std::make_unique<parts>()} {
  parts_->configured = std::move(configured);
}

node::~node() { parts_->stop_loops(); }

result<void> node::start() {
  auto& p = *parts_;
  BATON_CHECK(p.loops == nullptr);
  std::error_code failed;
  std::filesystem::create_directories(p.configured.node.data, failed);
  if (failed)
    return failure{
        error{p.configured.node.data.string() + ": cannot be made: " + failed.message()}};

  auto storage = node_storage::open(p.files, p.configured, random_number);
  if (!storage) return failure{storage.reason()};
  p.storage = *std::move(storage);
  p.loops = std::make_unique<threaded_runtime>(p.configured.node.loops);
  p.services = std::make_unique<node_services>(p.configured, *p.loops);
  auto& first = p.loops->at(0);

  p.services->wall_offset = wall_offset(*p.loops);
  p.storage->start(*p.services);

  std::promise<result<void>> declared;
  p.services->topology =
      spawn<topology_actor>(first, *p.services, p.storage->take_found(),
                            [&](result<void> outcome) { declared.set_value(std::move(outcome)); });
  auto outcome = declared.get_future().get();
  if (!outcome) {
    p.stop_loops();
    return failure{outcome.reason()};
  }

  std::promise<result<std::vector<std::string>>> listening;
  p.services->supervisor = spawn<supervisor>(
      first, *p.services,
      supervisor::events{
          [&](result<std::vector<std::string>> where) { listening.set_value(std::move(where)); },
          [this] {
            parts_->drained.set_value();
            if (parts_->on_stopped) parts_->on_stopped();
          }});
  auto where = listening.get_future().get();
  if (!where) {
    p.stop_loops();
    return failure{where.reason()};
  }
  p.listeners = std::move(*where);

  std::promise<result<void>> controlled;
  p.control = spawn<control_actor>(
      first, *p.services, [&](result<void> opened) { controlled.set_value(std::move(opened)); });
  // A node without its control socket still routes.
  if (auto opened = controlled.get_future().get(); !opened)
    log::warning("control socket", "no control socket: " + opened.reason().text);
  return {};
}

const std::string& node::name() const noexcept { return parts_->configured.node.name; }
std::vector<std::string> node::listeners() const { return parts_->listeners; }
std::size_t node::loops() const noexcept { return parts_->loops->size(); }

std::unique_ptr<local_handle> node::attach(std::size_t loop, std::unique_ptr<local_end> end) {
  return std::make_unique<session_handle>(
      spawn<local_session>(parts_->loops->at(loop % loops()), *parts_->services, std::move(end)));
}

void node::request_stop() { parts_->services->supervisor.send(stop_node{}); }

void node::on_stopped(std::function<void()> call) { parts_->on_stopped = std::move(call); }

void node::join() {
  if (parts_->loops == nullptr) return;
  parts_->drained.get_future().wait();
  parts_->close_journal();
  parts_->stop_loops();
}

}  // namespace baton
