#include "actors/support/log.hpp"

#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <mutex>
#include <stdexcept>

#include "actors/support/repeat_limiter.hpp"

namespace baton::log {

namespace {

constexpr std::size_t lines_waiting = 8192;

struct state {
  std::shared_ptr<spdlog::logger> logger;
  repeat_limiter limiter{10, std::chrono::minutes{1}};
  std::mutex guard;  // of the limiter; a log line is no part of the data path
};

state& the_log() {
  static state one;
  return one;
}

spdlog::level::level_enum level_of(log_level level) {
  switch (level) {
    case log_level::trace:
      return spdlog::level::trace;
    case log_level::debug:
      return spdlog::level::debug;
    case log_level::info:
      return spdlog::level::info;
    case log_level::warning:
      return spdlog::level::warn;
    case log_level::error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

void open(const logging_settings& settings) {
  try {
    if (!spdlog::thread_pool()) spdlog::init_thread_pool(lines_waiting, 1);
    spdlog::sink_ptr sink;
    if (settings.file.empty())
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    else
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(settings.file.string());
    auto logger =
        std::make_shared<spdlog::async_logger>("baton", std::move(sink), spdlog::thread_pool(),
                                               spdlog::async_overflow_policy::overrun_oldest);
    logger->set_level(level_of(settings.level));
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    logger->flush_on(spdlog::level::info);
    std::scoped_lock lock{the_log().guard};
    the_log().logger = std::move(logger);
    the_log().limiter = repeat_limiter{settings.repeat_limit, settings.repeat_interval};
  } catch (const spdlog::spdlog_ex& why) {
    throw std::runtime_error{why.what()};
  }
}

void close() {
  {
    std::scoped_lock lock{the_log().guard};
    the_log().logger.reset();
  }
  spdlog::shutdown();
}

bool wants(log_level level) noexcept {
  std::scoped_lock lock{the_log().guard};
  auto& logger = the_log().logger;
  return logger ? logger->should_log(level_of(level)) : level >= log_level::warning;
}

void write(log_level level, std::string_view kind, std::string_view text) {
  auto& log = the_log();
  std::scoped_lock lock{log.guard};
  if (log.logger && !log.logger->should_log(level_of(level))) return;
  if (!log.logger && level < log_level::warning) return;
  auto left_out = log.limiter.admit(kind, std::chrono::steady_clock::now());
  if (!left_out) return;
  std::string line{text};
  if (*left_out > 0)
    line += " (" + std::to_string(*left_out) + " more of '" + std::string{kind} + "' left out)";
  if (log.logger)
    log.logger->log(level_of(level), "{}", line);
  else
    std::fprintf(stderr, "baton: %s\n", line.c_str());
}

}  // namespace baton::log
