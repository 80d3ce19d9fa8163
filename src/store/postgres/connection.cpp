#include "store/postgres/connection.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <exception>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include "ebb/postgres/sql.h"
#include "store/postgres/schema.h"
#include "store/postgres/sql_error.h"

namespace ebb::postgres {

namespace {

constexpr int kBinary = 1;
constexpr std::int64_t kLongestPoll = 3'600'000;  // milliseconds

/// What every session needs, in the packet that opens it.
/// - Plans are made once and stay good: the generic plan of a statement that was first used on
///   empty tables would scan them, and continue to do so with a million rows. So nothing may be
///   scanned, hashed or sorted that an index serves in its order.
/// - Names are qualified; nothing of the user's search_path can get in between.
/// - A session that holds a lock on a row for a long time must not stop a worker.
constexpr std::string_view kSessionOptions =
    " -c search_path=pg_catalog -c plan_cache_mode=force_generic_plan -c enable_seqscan=off"
    " -c enable_bitmapscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off"
    " -c client_min_messages=error -c lock_timeout=2s";

PGconn* connect(const Settings& settings) {
    std::vector<const char*> names;
    std::vector<const char*> values;
    std::string options;
    if (const auto given = settings.parameters.find("options");
        given != settings.parameters.end()) {
        options = given->second;
    }
    // A pooler knows no options, and shares sessions with strangers.
    if (settings.caches_statements) options += kSessionOptions;
    for (const auto& [name, value] : settings.parameters) {
        if (name == "options") continue;
        names.push_back(name.c_str());
        values.push_back(value.c_str());
    }
    names.push_back("options");
    values.push_back(options.c_str());
    names.push_back(nullptr);
    values.push_back(nullptr);
    return PQconnectdbParams(names.data(), values.data(), 0);
}

void drop_notice(void* /*context*/, const PGresult* /*notice*/) {}

}  // namespace

Connection::Connection(const Settings& settings) : settings_(settings), handle_(connect(settings)) {
    if (handle_ == nullptr) throw std::bad_alloc();
    if (PQstatus(handle_.get()) != CONNECTION_OK) {
        throw_not_connected(settings_, PQerrorMessage(handle_.get()));
    }
    PQsetNoticeReceiver(handle_.get(), drop_notice, nullptr);
    const char* encoding = PQparameterStatus(handle_.get(), "server_encoding");
    if (encoding != nullptr && std::string_view(encoding) != "UTF8") {
        throw Error(
            ErrorCode::StoreError,
            fmt::format(
                "The database {} has the encoding {}, but Ebb needs UTF8: createdb -E UTF8.",
                settings_.target(),
                encoding
            )
        );
    }
    if (PQsetnonblocking(handle_.get(), 1) != 0) fail_lost();
}

void Connection::fail_lost() const {
    throw ConnectionLost(fmt::format(
        "The connection to {} broke: {}",
        settings_.target(),
        settings_.without_password(PQerrorMessage(handle_.get()))
    ));
}

void Connection::check_sent(int is_sent) const {
    if (is_sent == 0) fail_lost();
}

bool Connection::is_open() const {
    if (PQstatus(handle_.get()) != CONNECTION_OK) return false;
    char byte = 0;
    const auto peeked = recv(PQsocket(handle_.get()), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    // Nothing to read is good; an end, an error or unexpected data is not. TLS housekeeping cannot
    // be distinguished from a farewell here, so a new session is opened.
    return peeked < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

bool Connection::is_connected() const {
    if (PQstatus(handle_.get()) != CONNECTION_OK) return false;
    char byte = 0;
    // Only an end or an error shows a loss; the server's farewell comes right before its end.
    const auto peeked = recv(PQsocket(handle_.get()), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (peeked < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (peeked == 0) return false;
    if (PQconsumeInput(handle_.get()) == 0) return false;
    return PQstatus(handle_.get()) == CONNECTION_OK;
}

Connection::Prepared& Connection::prepared(std::string_view sql) {
    const auto [found, is_new] = prepared_.try_emplace(sql.data());
    if (is_new) {
        found->second.sql = settings_.in_schema(sql);
        // If a pooler shares one session among several clients, a name never means another
        // statement.
        found->second.name =
            fmt::format("ebb_{}_{}", prepared_.size(), migration_checksum(found->second.sql));
    }
    return found->second;
}

void Connection::send_unprepared(const std::string& sql, const Arguments& arguments) {
    const std::vector<const char*> values = arguments.values();
    const std::vector<int> lengths = arguments.lengths();
    const std::vector<int> formats(values.size(), kBinary);
    preparing_.push_back(nullptr);
    check_sent(PQsendQueryParams(
        handle_.get(),
        sql.c_str(),
        arguments.size(),
        nullptr,
        values.data(),
        lengths.data(),
        formats.data(),
        kBinary
    ));
}

void Connection::send(const Call& call) {
    if (call.is_once) return send_unprepared(settings_.in_schema(call.sql), call.arguments);
    PGconn* handle = handle_.get();
    Prepared& statement = prepared(call.sql);
    if (!settings_.caches_statements) return send_unprepared(statement.sql, call.arguments);
    const std::vector<const char*> values = call.arguments.values();
    const std::vector<int> lengths = call.arguments.lengths();
    const std::vector<int> formats(values.size(), kBinary);
    const int count = call.arguments.size();
    bool is_preparing = !statement.is_known;
    for (const Prepared* earlier : preparing_) is_preparing = is_preparing && earlier != &statement;
    preparing_.push_back(is_preparing ? &statement : nullptr);
    if (is_preparing) {
        check_sent(PQsendPrepare(handle, statement.name.c_str(), statement.sql.c_str(), 0, nullptr)
        );
    }
    check_sent(PQsendQueryPrepared(
        handle,
        statement.name.c_str(),
        count,
        values.data(),
        lengths.data(),
        formats.data(),
        kBinary
    ));
}

std::vector<Result> Connection::run(std::span<const Call> calls) {
    // A session of our own has its path from the packet that opened it.
    if (settings_.caches_statements) return run_pipeline(calls);
    const bool is_borrowed = PQtransactionStatus(handle_.get()) == PQTRANS_INTRANS;
    const Arguments none;
    std::vector<Call> framed{{is_borrowed ? sql::borrow_search_path : sql::pin_search_path, none}};
    for (const Call& call : calls) framed.push_back(call);
    if (is_borrowed) framed.push_back({sql::return_search_path, none});
    std::vector<Result> results = run_pipeline(framed);
    results.erase(results.begin());
    if (is_borrowed) results.pop_back();
    return results;
}

std::vector<Result> Connection::run_pipeline(std::span<const Call> calls) {
    preparing_.clear();
    check_sent(PQenterPipelineMode(handle_.get()));
    for (const Call& call : calls) send(call);
    check_sent(PQpipelineSync(handle_.get()));
    flush();
    return receive(calls);
}

Result Connection::run(std::string_view sql, const Arguments& arguments) {
    const Call call{sql, arguments};
    std::vector<Result> results = run({&call, 1});
    return std::move(results.front());
}

Result Connection::run_once(std::string_view sql, const Arguments& arguments) {
    const Call call{sql, arguments, true};
    std::vector<Result> results = run({&call, 1});
    return std::move(results.front());
}

void Connection::flush() {
    while (true) {
        const int rest = PQflush(handle_.get());
        if (rest == 0) return;
        if (rest < 0) fail_lost();
        pollfd socket{.fd = PQsocket(handle_.get()), .events = POLLIN | POLLOUT, .revents = 0};
        if (poll(&socket, 1, -1) < 0 && errno != EINTR) fail_lost();
        if ((socket.revents & POLLIN) != 0) check_sent(PQconsumeInput(handle_.get()));
    }
}

PGresult* Connection::next_result() {
    // It waits by itself, and knows what we could not: that of a record of TLS which is larger than
    // its buffer, a part is already here, of which the socket tells nothing.
    return PQgetResult(handle_.get());
}

std::vector<Result> Connection::receive(std::span<const Call> calls) {
    std::vector<Result> results;
    std::exception_ptr failure;
    const auto take = [&](bool is_wanted) {
        Result result(next_result());
        if (result.handle() == nullptr) fail_lost();
        const ExecStatusType status = PQresultStatus(result.handle());
        // The end of this statement's results within the pipeline.
        PGresult* end = next_result();
        if (end != nullptr) PQclear(end);
        if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
            if (is_wanted) results.push_back(std::move(result));
            return true;
        }
        if (status != PGRES_PIPELINE_ABORTED && !failure) {
            try {
                throw_failure(settings_, result.handle());
            } catch (...) {
                failure = std::current_exception();
            }
        }
        return false;
    };
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (preparing_[i] != nullptr && take(false)) preparing_[i]->is_known = true;
        take(true);
        if (PQstatus(handle_.get()) != CONNECTION_OK) break;
    }
    if (failure && PQstatus(handle_.get()) != CONNECTION_OK) std::rethrow_exception(failure);
    leave_pipeline();
    if (failure) std::rethrow_exception(failure);
    return results;
}

void Connection::leave_pipeline() {
    // The transaction ends here: only now is it known whether it was committed.
    const Result sync(next_result());
    if (sync.handle() == nullptr) fail_lost();
    const ExecStatusType status = PQresultStatus(sync.handle());
    if (status == PGRES_FATAL_ERROR) {
        // SERIALIZABLE fails as late as this, and the end of the pipeline is still to come. Whether
        // libpq tells it after such an error depends on its version.
        is_spent_ = !has_ended_pipeline();
        throw_failure(settings_, sync.handle());
    }
    // What a session heard that a pooler shares with others is not for this process.
    while (PGnotify* said = PQnotifies(handle_.get())) PQfreemem(said);
    if (status != PGRES_PIPELINE_SYNC || PQexitPipelineMode(handle_.get()) == 0) fail_lost();
}

bool Connection::has_ended_pipeline() {
    for (int looks = 0; looks < 2; ++looks) {
        const Result end(next_result());
        const bool is_end =
            end.handle() != nullptr && PQresultStatus(end.handle()) == PGRES_PIPELINE_SYNC;
        if (is_end) return PQexitPipelineMode(handle_.get()) != 0;
    }
    return false;
}

void Connection::execute(std::string_view sql) {
    check_sent(PQsendQuery(handle_.get(), settings_.in_schema(sql).c_str()));
    flush();
    std::exception_ptr failure;
    while (PGresult* raw = next_result()) {
        const Result result(raw);
        const ExecStatusType status = PQresultStatus(raw);
        if (failure || (status != PGRES_FATAL_ERROR && status != PGRES_BAD_RESPONSE)) continue;
        try {
            throw_failure(settings_, raw);
        } catch (...) {
            failure = std::current_exception();
        }
    }
    if (failure) std::rethrow_exception(failure);
    if (PQstatus(handle_.get()) != CONNECTION_OK) fail_lost();
}

void Connection::listen(std::string_view channel) {
    execute(fmt::format("LISTEN \"{}\"", channel));
}

std::vector<std::string> Connection::wait_for_notifications(int interrupt, Duration limit) {
    std::array<pollfd, 2> ends{{
        {.fd = PQsocket(handle_.get()), .events = POLLIN, .revents = 0},
        {.fd = interrupt, .events = POLLIN, .revents = 0},
    }};
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
    const int wait = static_cast<int>(std::clamp<std::int64_t>(milliseconds, 0, kLongestPoll));
    if (poll(ends.data(), ends.size(), wait) < 0 && errno != EINTR) fail_lost();
    std::vector<std::string> heard;
    // Again as long as it brings something: a rest of a record of TLS would not wake us.
    for (bool is_more = true; is_more;) {
        is_more = false;
        check_sent(PQconsumeInput(handle_.get()));
        while (PGnotify* said = PQnotifies(handle_.get())) {
            heard.emplace_back(said->extra);
            PQfreemem(said);
            is_more = true;
        }
    }
    return heard;
}

}  // namespace ebb::postgres
