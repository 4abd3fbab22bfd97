#include "actors/runtime/pinned_actor.hpp"

#include <caf/behavior.hpp>
#include <caf/error.hpp>
#include <caf/exit_reason.hpp>
#include <caf/sec.hpp>

#include "actors/support/log.hpp"

namespace baton {

namespace {

std::string text_of(const std::exception_ptr& what) {
  try {
    std::rethrow_exception(what);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

std::string text_of(const caf::error& reason) {
  if (!reason || reason == caf::exit_reason::normal) return {};
  if (reason == caf::sec::runtime_error && reason.context().match_elements<std::string>())
    return reason.context().get_as<std::string>(0);
  return caf::to_string(reason);
}

}  // namespace

pinned_actor::pinned_actor(caf::actor_config& config)
    : caf::event_based_actor{config}, home_{*static_cast<loop*>(config.host)} {
  default_handler_ = [](caf::scheduled_actor*, caf::message_view&) -> caf::result<caf::message> {
    throw broken_invariant{"an actor was sent a message of CAF's own that it does not know"};
  };
  down_handler_ = [](caf::scheduled_actor* self, caf::down_msg& down) {
    static_cast<pinned_actor*>(self)->on_down(down.source, text_of(down.reason));
  };
  exception_handler_ = [](caf::scheduled_actor* self, std::exception_ptr& what) {
    return static_cast<pinned_actor*>(self)->failed(what);
  };
}

pinned_actor::~pinned_actor() = default;

void pinned_actor::on_down(const caf::actor_addr&, const std::string&) {
  throw broken_invariant{"an actor watches another without handling its end"};
}

void pinned_actor::on_failure(const std::string& why) { log::error("failure", why); }

// -- CAF's face ---------------------------------------------------------------------------------

void pinned_actor::enqueue(caf::mailbox_element_ptr element, caf::execution_unit*) {
  push(std::move(element));
}

void pinned_actor::push(caf::mailbox_element_ptr element) noexcept {
  if (mailbox_.push_back(std::move(element)) != caf::intrusive::inbox_result::unblocked_reader)
    return;
  intrusive_ptr_add_ref(ctrl());  // the loop's, until it has run the task
  home_.schedule(*this);
}

void pinned_actor::initialize() {
  event_based_actor::initialize();
  older_ = home_.youngest_;
  if (older_ != nullptr) older_->younger_ = this;
  home_.youngest_ = this;
  is_at_home_ = true;
  intrusive_ptr_add_ref(ctrl());
  is_in_handler_ = true;
  try {
    on_start();
  } catch (...) {
    fail(std::current_exception());
  }
  is_in_handler_ = false;
}

caf::behavior pinned_actor::make_behavior() {
  // CAF takes an actor without a behavior for dead. This one is never asked: `handle` is.
  static const caf::behavior alive{[](caf::unit_t) {}};
  return alive;
}

/// Counts and dispatches what CAF's mailbox hands out.
struct pinned_actor::mailbox_visitor {
  pinned_actor& self;
  std::size_t left;

  template <class Queue>
  caf::intrusive::task_result operator()(std::size_t, Queue&, caf::mailbox_element& element) {
    --left;
    return self.handle(element) && left > 0 ? caf::intrusive::task_result::resume
                                            : caf::intrusive::task_result::stop_all;
  }
  template <class Queue, class Inner>
  caf::intrusive::task_result operator()(std::size_t, Queue&, caf::stream_slot, Inner&,
                                         caf::mailbox_element&) {
    return caf::intrusive::task_result::resume;  // CAF's streams are not used
  }
};

caf::resumable::resume_result pinned_actor::resume(caf::execution_unit* unit,
                                                   std::size_t max_messages) {
  if (!activate(unit)) return resumable::done;
  mailbox_visitor visitor{*this, max_messages};
  do {
    mailbox_.new_round(max_messages, visitor);
    if (has_ended()) {
      finalize();
      return resumable::done;
    }
    if (mailbox_.try_block()) return resumable::awaiting_message;
  } while (visitor.left > 0);
  return resumable::resume_later;
}

bool pinned_actor::handle(caf::mailbox_element& element) {
  if (!envelope::is_envelope(element)) {
    is_in_handler_ = true;
    reactivate(element);
    is_in_handler_ = false;
    return !has_ended();
  }
  is_in_handler_ = true;
  try {
    BATON_CHECK(dispatch(static_cast<envelope&>(element)));
  } catch (...) {
    fail(std::current_exception());
  }
  is_in_handler_ = false;
  return !has_ended();
}

void pinned_actor::fail(const std::exception_ptr& what) { quit(failed(what)); }

caf::error pinned_actor::failed(const std::exception_ptr& what) {
  has_failed_.store(true, std::memory_order_release);
  home_.statistics().failures.fetch_add(1, std::memory_order_relaxed);
  auto why = text_of(what);
  try {
    on_failure(why);
  } catch (...) {
    // It is ending for a failure already.
  }
  return caf::make_error(caf::sec::runtime_error, std::move(why));
}

bool pinned_actor::cleanup(caf::error&& reason, caf::execution_unit* host) {
  if (!mailbox_.closed()) {
    // As the base does, less the answers to CAF's requests; here, ThreadSanitizer can follow it.
    mailbox_.close();
    const auto drop = [](auto&&...) { return caf::intrusive::task_result::resume; };
    while (mailbox_.queue().new_round(1'000, drop).consumed_items) {
    }
  }
  const bool first = event_based_actor::cleanup(std::move(reason), host);
  leave_home();
  return first;
}

void pinned_actor::leave_home() noexcept {
  if (!is_at_home_) return;
  is_at_home_ = false;
  cancel_timers();
  if (auto* output = dynamic_cast<flushable*>(this)) home_.undefer(*output);
  (younger_ == nullptr ? home_.youngest_ : younger_->older_) = older_;
  if (older_ != nullptr) older_->younger_ = younger_;
  intrusive_ptr_release(ctrl());
}

// -- the loop's face ----------------------------------------------------------------------------

void pinned_actor::run_task(loop& on) {
  if (resume(&on, on.quantum()) == resumable::resume_later)
    on.schedule(*this);
  else
    intrusive_ptr_release(ctrl());
}

void pinned_actor::discard_task() noexcept {
  // The mail that it has is not read any more; what it holds goes all the same.
  if (is_at_home_)
    enter([this] { quit(caf::make_error(caf::exit_reason::user_shutdown)); });
  else if (!has_ended())
    on_exit();
  cleanup(caf::make_error(caf::exit_reason::user_shutdown), nullptr);
  intrusive_ptr_release(ctrl());
}

}  // namespace baton
