// A stream's random life, on its real log and a simulated disk, against what it has promised.

#include <map>
#include <string>
#include <vector>

#include "tests/actors/stream/stream_on_disk.hpp"

namespace baton::test {

namespace {

using kind = stream_start::kind;

/// Random life of a stream, against what it has promised.
class stream_life {
public:
  explicit stream_life(std::uint64_t seed) : random_{seed}, s_{seed} {}

  void live() {
    s_.sync = random_.once_in(4) ? sync_policy::never : sync_policy::always;
    begin();
    for (int step = 0; step < 300; ++step) {
      act();
      check();
    }
    // In the end everything gets through.
    s_.disk.faults().clear();
    s_.settle();
    while (s_.dispatch() || s_.read()) {
    }
    check();
    for (const auto& [number, r] : readers_) {
      INFO("reader " << number);
      if (r.prefetch > 1000) CHECK(r.next >= s_.core->end());
    }
  }

private:
  struct reader {
    std::uint64_t next = 0;
    std::uint32_t prefetch = 0;
    std::size_t checked = 0;
    std::string filter;
  };

  std::uint64_t below(std::uint64_t end) { return random_.below(end); }

  void begin() {
    limits_.tail = 1 + below(4000);
    limits_.cache = 1 + below(4000);
    limits_.reads = 1 + below(3);
    if (random_.once_in(2)) limits_.max_bytes = 6000;
    s_.open(limits_);
  }

  void act() {
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
        return publish();
      case 3:
        s_.flush();
        return;
      case 4:
        s_.flush();
        static_cast<void>(s_.commit());
        return;
      case 5:
        fail_sometimes();
        static_cast<void>(s_.commit());
        static_cast<void>(s_.sync_log());
        return;
      case 6:
        for (auto i = below(6); i > 0; --i) s_.hear();
        return;
      case 7:
        s_.dispatch();
        return;
      case 8:
        s_.read();
        return;
      case 9:
        return random_.once_in(2) ? add() : settle_some();
      case 10:
        s_.retire(now_);
        return;
      default:
        if (random_.once_in(10)) restart();
    }
  }

  void fail_sometimes() {
    // What was only written is not promised to outlive a failed sync and a kill.
    if (s_.sync == sync_policy::always && random_.once_in(3))
      s_.disk.faults().fail_call(file_operation::sync, 1 + below(2), EIO);
  }

  void publish() {
    batch all;
    now_ += below(3);
    for (auto i = 1 + below(5); i > 0; --i) {
      const auto body = std::to_string(++published_) + std::string(below(200), '.');
      const std::string filter = random_.once_in(2) ? "x" : "";
      all.add(stream_on_disk::message_of(body, filter));
      known_.push_back({body, filter});
    }
    s_.core->publish(std::move(all), now_);
  }

  void add() {
    if (readers_.size() >= 6) {
      const auto gone = readers_.begin()->first;
      s_.core->remove(consumer_id{gone});
      readers_.erase(gone);
    }
    const auto number = ++numbers_;
    reader made;
    made.prefetch = random_.once_in(2) ? 1'000'000 : 1 + static_cast<std::uint32_t>(below(8));
    if (random_.once_in(4)) made.filter = "x";
    made.next = below(s_.core->end() + 1);
    stream_reading reading{{kind::offset, made.next}, {}, false};
    if (!made.filter.empty()) reading.filter.push_back(made.filter);
    s_.add_reader(number, std::move(reading), made.prefetch);
    readers_[number] = made;
  }

  void settle_some() {
    for (auto& [number, r] : readers_)
      s_.core->settle(consumer_id{number},
                      {{0, static_cast<std::uint32_t>(below(5)), outcome::accept}});
  }

  void restart() {
    const auto promised = s_.core->end();
    s_.disk.faults().clear();
    if (s_.sync == sync_policy::always && random_.once_in(2)) {
      s_.disk.power_cut();
      s_.disk.power_on();
    } else if (random_.once_in(2)) {
      s_.flush();
      static_cast<void>(s_.commit());
      static_cast<void>(s_.log->close());
    }
    s_.open(limits_);
    CHECK(s_.core->end() >= promised);
    known_.resize(static_cast<std::size_t>(s_.core->end()));
    published_ = known_.size();
    readers_.clear();
  }

  void check() {
    for (auto& [number, r] : readers_) {
      const auto& got = s_.got[number];
      INFO("reader " << number);
      for (; r.checked < got.size(); ++r.checked) {
        const auto& d = got[r.checked];
        REQUIRE(d.offset < s_.core->end());
        REQUIRE(d.offset >= r.next);
        // What was passed over had been retired, or is not what the filter wants.
        INFO("offset " << d.offset << " after " << r.next << ", first " << s_.core->first());
        for (auto o = r.next; o < d.offset; ++o)
          REQUIRE((o < s_.core->first() || (!r.filter.empty() && known_[o].filter.empty())));
        REQUIRE(known_[d.offset].body == d.body);
        REQUIRE((r.filter.empty() || !known_[d.offset].filter.empty()));
        r.next = d.offset + 1;
      }
      // A filter may have to pass over all that is left.
      if (!r.filter.empty())
        while (r.next < s_.core->end() && known_[r.next].filter.empty()) ++r.next;
    }
    REQUIRE(s_.damage.empty());
  }

  struct content {
    std::string body;
    std::string filter;
  };

  simulation_random random_;
  stream_on_disk s_;
  stream_limits limits_;
  std::vector<content> known_;  // by offset
  std::uint64_t published_ = 0;
  std::uint64_t now_ = 1000;
  std::uint64_t numbers_ = 0;
  std::map<std::uint64_t, reader> readers_;
};

}  // namespace

TEST_CASE("a stream gives every reader what was safe, whatever the disk and the mail do",
          "[stream][random]") {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    INFO("seed " << seed);
    stream_life{seed}.live();
  }
}

}  // namespace baton::test
