#include "actors/node_storage.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <set>
#include <utility>

#include "actors/reader_actor.hpp"
#include "actors/store_actor.hpp"
#include "actors/stream_reader_actor.hpp"
#include "actors/support/log.hpp"
#include "storage/stream/stream_folder.hpp"

namespace baton {

namespace {

// Sizes that a stream's segments can have.
constexpr std::uint64_t least_segment_size = 64 << 10;
constexpr std::uint64_t most_segment_size = std::uint64_t{2} << 30;

failure<error> failed(const io_error& why) { return failure{error{why.text()}}; }

/// The queues that are defined. What does not say which it defines is the topology's to report.
std::set<std::uint64_t> defined_queues(const std::vector<definition>& definitions) {
  std::set<std::uint64_t> queues;
  for (const auto& each : definitions)
    if (auto known = decode(each))
      if (const auto* queue = std::get_if<stored_queue>(&*known)) queues.insert(queue->id.value);
  return queues;
}

/// Tells once more of messages that are done with, behind their records.
journal::journal_entry ended_early(
    const std::map<std::uint64_t, journal::recovered_node::queue>& queues) {
  std::vector<journal::queue_run> runs;
  for (const auto& [id, queue] : queues)
    for (const auto number : queue.ended_early) runs.push_back({id, number, 1});
  journal::journal_entry entry;
  entry.sync = sync_policy::never;
  if (runs.empty()) return entry;
  journal::record_writer writer;
  writer.add_settle(runs);
  entry.records = writer.take();
  return entry;
}

}  // namespace

result<std::unique_ptr<node_storage>> node_storage::open(
    file_system& files, const settings& configured, std::function<std::uint64_t()> generation) {
  const auto data = configured.node.data.string();
  std::unique_ptr<node_storage> made{new node_storage{files, data, std::move(generation)}};
  auto locked = files.lock_folder(data);
  if (!locked) return failed(locked.reason());
  made->lock_ = *std::move(locked);
  for (const auto& folder : {made->folder_, made->streams_})
    if (auto ready = files.create_folder(folder); !ready) return failed(ready.reason());
  if (auto synced = files.sync_folder(data); !synced) return failed(synced.reason());
  if (auto recovered = made->recover(configured.journal); !recovered)
    return failure{recovered.reason()};
  return made;
}

result<void> node_storage::recover(const journal_settings& configured) {
  const auto begun = std::chrono::steady_clock::now();
  auto read = journal::recover_node(files_, folder_);
  if (!read) return failure{read.reason()};
  auto& node = *read;
  for (const auto& text : node.log.damage) log::error("journal damaged", text);
  if (!node.log.torn.empty()) log::warning("journal", node.log.torn);
  if (auto settled = journal::settle_log(files_, folder_, node.log); !settled)
    return failed(settled.reason());

  for (auto& [key, value] : node.definitions)
    found_.definitions.push_back({key, std::move(value.value)});
  found_.highest_queue = node.highest_queue;
  const auto defined = defined_queues(found_.definitions);
  std::vector<std::uint64_t> gone;
  for (const auto& [id, queue] : node.queues)
    if (defined.count(id) == 0) gone.push_back(id);
  for (const auto id : gone) node.forget(id);
  std::uint64_t messages = 0;
  for (auto& [id, queue] : node.queues) {
    messages += queue.messages.size();
    if (!node.log.closed) queue.messages.mark_all_redelivered();
  }
  auto ended = ended_early(node.queues);
  found_.queues = std::move(node.queues);

  if (node.log.records > 0)
    log::info("journal", folder_ + ": " + std::to_string(messages) + " messages in " +
                             std::to_string(defined.size()) + " queues; read " +
                             std::to_string(node.log.segments.size()) + " segments in " +
                             std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(
                                                std::chrono::steady_clock::now() - begun)
                                                .count()) +
                             " ms" +
                             (node.log.closed ? "" : "; the node had not been stopped in order"));
  log_ = std::make_unique<journal::journal>(files_, folder_, configured, node.log,
                                            std::move(node.live), generation_);
  if (!ended.records.empty()) log_->add(std::move(ended));
  // What is handed out is not written: if this node ends before it writes anything, the next one
  // must not take the log for one that was closed after all that.
  if (messages > 0)
    if (auto reopened = log_->reopen(); !reopened)
      log::error("journal",
                 "what is delivered before anything is stored may come again without a "
                 "word, if the node crashes by then: " +
                     reopened.reason().text());
  return recover_streams(defined);
}

result<void> node_storage::recover_streams(const std::set<std::uint64_t>& defined) {
  auto names = files_.list(streams_);
  if (!names) return failed(names.reason());
  for (const auto& name : *names) {
    std::uint64_t id = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), id);
    if (read.ec != std::errc{} || read.ptr != name.data() + name.size()) continue;
    const auto folder = stream_log::stream_folder(streams_, id);
    if (defined.count(id) == 0) {
      if (auto removed = stream_log::remove_stream(files_, folder); !removed)
        log::warning("stream", "cannot be removed: " + removed.reason().text());
      continue;
    }
    auto found = stream_log::recover_stream(files_, folder, id);
    if (!found) return failure{found.reason()};
    for (const auto& text : found->log.damage) log::error("stream damaged", text);
    if (!found->log.torn.empty()) log::warning("stream", found->log.torn);
    if (auto settled = journal::settle_log(files_, folder, found->log); !settled)
      return failed(settled.reason());
    found_streams_.emplace(id, *std::move(found));
  }
  return {};
}

stream_actor::disk_side node_storage::open_stream(node_services& node, const queue_entry& entry) {
  const auto id = entry.id.value;
  const auto folder = stream_log::stream_folder(streams_, id);
  auto found = found_streams_.extract(id);
  auto log = found ? std::move(found.mapped()) : stream_log::recovered_stream{id};
  auto configured = node.configured().journal;
  configured.reserved_segments = 0;
  if (const auto size = entry.arguments.max_segment_size)
    configured.segment_size.value = std::clamp(*size, least_segment_size, most_segment_size);
  stream_actor::disk_side side{
      baton::spawn<store_actor>(
          node.loops().writing(), node,
          std::make_unique<journal::journal>(files_, folder, configured, log.log,
                                             std::move(log.live), generation_, id)),
      node.stream_reader,
      [&files = files_, folder] {
        if (auto removed = stream_log::remove_stream(files, folder); !removed)
          log::warning("stream", "cannot be removed: " + removed.reason().text());
      },
      node.wall_offset, std::move(log.table)};
  return side;
}

void node_storage::start(node_services& node) {
  node.store = baton::spawn<store_actor>(node.loops().writing(), node, std::move(log_));
  node.reader = baton::spawn<reader_actor>(
      node.loops().reading(), std::make_unique<journal::message_reader>(files_, folder_));
  node.stream_reader = baton::spawn<stream_reader_actor>(
      node.loops().reading(), std::make_unique<stream_log::chunk_reader>(files_, streams_));
  node.storage = this;
}

}  // namespace baton
