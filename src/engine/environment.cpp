#include "engine/environment.h"

#include <algorithm>
#include <array>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include <ebb/error.h>

#include "engine/queue_name.h"
#include "support/clock.h"
#include "support/json.h"
#include "support/uuid.h"
#include "support/warning_limit.h"

namespace ebb::engine {

namespace {

/// How often the log says that the database denies a worker what it needs.
constexpr Duration kTellDenialEvery = std::chrono::minutes(1);

[[noreturn]] void throw_bad_option(std::string_view name, const std::string& allowed) {
    throw Error(
        ErrorCode::InvalidArgument, fmt::format("The engine option {} must be {}.", name, allowed)
    );
}

void require_positive(std::string_view name, Duration value) {
    if (value <= Duration::zero()) throw_bad_option(name, "longer than zero");
}

void require_lease(Duration lease) {
    if (lease >= EngineOptions::kLeaseMin && lease <= EngineOptions::kLeaseMax) return;
    throw_bad_option(
        "lease",
        fmt::format(
            "{} to {}, not {}",
            format_duration(EngineOptions::kLeaseMin),
            format_duration(EngineOptions::kLeaseMax),
            format_duration(lease)
        )
    );
}

void require_within(std::string_view name, std::int64_t value, std::int64_t min, std::int64_t max) {
    if (value < min || value > max) {
        throw_bad_option(name, fmt::format("{} to {}, not {}", min, max, value));
    }
}

void check(const EngineOptions& options) {
    require_within("threads", options.threads, 1, 4096);
    require_within("in_flight_max", options.in_flight_max, 1, 100'000);
    require_within("claim_batch_max", options.claim_batch_max, 1, 10'000);
    require_within("commit_batch_max", options.commit_batch_max, 1, 10'000);
    constexpr std::size_t kBatchBytesHardMax = std::size_t{256} << 20;
    if (options.claim_bytes_max < 1 || options.claim_bytes_max > kBatchBytesHardMax) {
        throw_bad_option("claim_bytes_max", fmt::format("1 to {}", kBatchBytesHardMax));
    }
    if (options.commit_bytes_max < 1 || options.commit_bytes_max > kBatchBytesHardMax) {
        throw_bad_option("commit_bytes_max", fmt::format("1 to {}", kBatchBytesHardMax));
    }
    require_lease(options.lease);
    for (const std::string& queue : options.queues) check_queue_name(queue);
    require_positive("poll_min", options.poll_min);
    require_positive("poll_max", options.poll_max);
    require_positive("poll_max_told", options.poll_max_told);
    require_positive("stop_grace", options.stop_grace);
    if (options.poll_max < options.poll_min) throw_bad_option("poll_max", "at least poll_min");
    constexpr std::size_t kPayloadBytesHardMax = std::size_t{8} << 20;
    if (options.payload_bytes_max < 64 || options.payload_bytes_max > kPayloadBytesHardMax) {
        throw_bad_option("payload_bytes_max", fmt::format("64 to {}", kPayloadBytesHardMax));
    }
    require_within("json_depth_max", options.json_depth_max, 1, 512);
    if (options.error_bytes_max < 64 || options.error_bytes_max > options.payload_bytes_max) {
        throw_bad_option("error_bytes_max", "64 to payload_bytes_max");
    }
    check_worker_id(options.worker_id);
}

Log make_log(LogSink* sink, const Clock& clock) {
    return sink == nullptr ? Log() : Log(std::make_shared<WarningLimit>(*sink, clock));
}

/// What the engine measures time with: the given clock, or the store's.
const Clock& choose_clock(const Store& store, const EngineOptions& options, const Clock& system) {
    const StoreTraits traits = store.traits();
    const Clock* given = options.clock;
    if (given == nullptr) return traits.clock != nullptr ? *traits.clock : system;
    if (traits.clock == nullptr || &traits.clock->source() == &given->source()) return *given;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "EngineOptions::clock is not the clock of the {} store, so nothing would become due "
            "when it should. Give the clock to the store instead, as in open_memory_store({{.clock "
            "= &clock}}): its engines go by it.",
            traits.name
        )
    );
}

}  // namespace

void check_worker_id(const std::string& id) {
    constexpr std::size_t kMax = EngineOptions::kWorkerIdBytesMax;
    const bool is_word = std::all_of(id.begin(), id.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte > ' ' && byte != 0x7f;
    });
    if (id.size() <= kMax && is_word && clean_text(id, kMax) == id) return;
    throw_bad_option(
        "worker_id",
        fmt::format(
            "at most {} bytes of UTF-8 text without spaces and control characters, not \"{}\"",
            kMax,
            clean_text(id, kMax)
        )
    );
}

std::string host_name() {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
    return name.data();
}

std::int64_t process_id() {
    return getpid();
}

SteadyPoint Moment::at(TimePoint when) const {
    // The steady clock may be far behind the date, so the addition below would yield a time.
    if (when == kNever) return kSteadyNever;
    const Duration rest = when - date;
    return rest >= kSteadyNever - steady ? kSteadyNever : steady + rest;
}

TimePoint Moment::at(SteadyPoint when) const {
    const Duration rest = when - steady;
    return rest >= kNever - date ? kNever : date + rest;
}

EngineOptions Environment::resolve(EngineOptions options) {
    if (options.threads == 0) {
        options.threads = std::max(2, static_cast<int>(std::thread::hardware_concurrency()));
    }
    check(options);
    if (options.worker_id.empty()) {
        options.worker_id =
            fmt::format("{}-{}-{:08x}", host_name(), process_id(), random_bits() & 0xFFFF'FFFFU);
    }
    return options;
}

Environment::Environment(
    Store& store_in, const HandlerRegistry& handlers_in, EngineOptions options_in
)
    : store(store_in),
      handlers(handlers_in),
      entry_handlers(handlers_in),
      options(resolve(std::move(options_in))),
      clock(choose_clock(store, options, system_clock_)),
      log(make_log(options.log, clock)),
      started_at(now()) {
    for (const std::shared_ptr<Observer>& observer : options.observers) observers.add(observer);
    if (!handlers.has_transactional() || store.traits().has_transactions) return;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "There are transactional handlers, but the {} store has no transactions to share; "
            "SQLite and PostgreSQL have.",
            store.traits().name
        )
    );
}

bool Environment::can_run(std::string_view handler, std::string_view queue) const {
    if (handlers.find(handler) == nullptr) return false;
    const auto& queues = options.queues;
    return queues.empty() || std::find(queues.begin(), queues.end(), queue) != queues.end();
}

namespace {

/// A handler that uses its whole grace (a program that has to be killed) is still to be collected.
constexpr Duration kAfterGrace = std::chrono::seconds(1);

Duration with_own_grace(Duration stop_grace, Duration own) {
    return own == Duration::zero() ? stop_grace : std::max(stop_grace, own + kAfterGrace);
}

}  // namespace

Duration Environment::grace_of(std::string_view handler) const {
    return with_own_grace(options.stop_grace, handlers.grace(handler));
}

Duration Environment::longest_grace() const {
    return with_own_grace(options.stop_grace, handlers.longest_grace());
}

bool is_denial(const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    return known != nullptr &&
           (known->code() == ErrorCode::StoreDenied || known->code() == ErrorCode::StoreVersion);
}

bool may_pass(const Error& error) {
    return error.is_transient() || is_denial(error);
}

void Environment::report(std::string_view what, const std::exception& error) {
    if (!is_denial(error)) return warn(what, error);
    ++statistics.store_errors;
    const bool is_new = !worker.is_denied.exchange(true);
    const Duration::rep time = steady_now().time_since_epoch().count();
    if (!is_new && time - worker.denial_told_at < kTellDenialEvery.count()) return;
    worker.denial_told_at = time;
    std::string why = error.what();
    try {
        store.check_rights();
    } catch (const std::exception& missing) {
        if (is_denial(missing)) why = missing.what();
    }
    log.error("worker_denied", {{"worker", options.worker_id}, {"what", what}, {"error", why}});
}

void Environment::warn(std::string_view what, const std::exception& error) {
    ++statistics.store_errors;
    log.warning(what, {{"worker", options.worker_id}, {"error", error.what()}});
}

}  // namespace ebb::engine
