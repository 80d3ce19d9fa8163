#include "handlers/http_transfers.h"

#include <atomic>
#include <map>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "handlers/curl_transfer.h"
#include "support/sync.h"

namespace ebb {

namespace {

/// Connections that are kept for the next requests, and handles likewise.
constexpr long kConnectionsKept = 64;
constexpr std::size_t kHandlesKept = 64;
constexpr int kPollMillisecondsMax = 60'000;

}  // namespace

class HttpTransfers::Loop {
 public:
    Loop() : multi_(curl_multi_init()) {
        if (!multi_) throw HttpError(HttpError::Kind::ConnectionFailed, "no memory is left");
        curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, kConnectionsKept);
    }

    ~Loop() {
        is_stopping_ = true;
        wake();
    }

    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    void begin(HttpRequest request, Done done) {
        {
            const Lock lock(mutex_);
            asked_.push_back({std::move(request), std::move(done)});
            if (!thread_.joinable()) thread_ = std::jthread([this] { run(); });
        }
        wake();
    }

 private:
    struct Asked {
        HttpRequest request;
        Done done;
    };

    /// Tells the loop of a request that was asked to stop.
    struct Wake {
        Loop& loop;

        void operator()() const noexcept {
            loop.has_stops_ = true;
            loop.wake();
        }
    };

    /// It stays where it is: libcurl knows the addresses of its parts.
    struct Running {
        Running(Asked what, curl::EasyHandle handle, Loop& loop)
            : asked(std::move(what)),
              easy(std::move(handle)),
              transfer(easy.get(), asked.request),
              wake(asked.request.stop, Wake{loop}) {}

        Asked asked;
        curl::EasyHandle easy;
        curl::Transfer transfer;
        std::stop_callback<Wake> wake;
    };

    void wake() { curl_multi_wakeup(multi_.get()); }

    void run() {
        while (!is_stopping_) {
            for (Asked& asked : take_asked()) start(std::move(asked));
            if (has_stops_.exchange(false)) end_stopped();
            int running = 0;
            curl_multi_perform(multi_.get(), &running);
            end_finished();
            curl_multi_poll(multi_.get(), nullptr, 0, kPollMillisecondsMax, nullptr);
        }
        while (!running_.empty()) end(running_.begin()->first, CURLE_ABORTED_BY_CALLBACK);
        for (const Asked& asked : take_asked()) tell_stopped(asked);
    }

    std::vector<Asked> take_asked() {
        const Lock lock(mutex_);
        return std::exchange(asked_, {});
    }

    void start(Asked asked) {
        if (asked.request.stop.stop_requested()) return tell_stopped(asked);
        curl::EasyHandle easy;
        if (free_.empty()) {
            easy.reset(curl_easy_init());
        } else {
            easy = std::move(free_.back());
            free_.pop_back();
        }
        if (!easy) {
            return asked.done(
                {},
                std::make_exception_ptr(
                    HttpError(HttpError::Kind::ConnectionFailed, "no memory is left", false)
                )
            );
        }
        CURL* const handle = easy.get();
        running_.try_emplace(handle, std::move(asked), std::move(easy), *this);
        curl_multi_add_handle(multi_.get(), handle);
    }

    static void tell_stopped(const Asked& asked) {
        asked.done(
            {},
            std::make_exception_ptr(
                HttpError(HttpError::Kind::Stopped, "the step was stopped", false)
            )
        );
    }

    void end_stopped() {
        std::vector<CURL*> stopped;
        for (const auto& [handle, running] : running_) {
            if (running.asked.request.stop.stop_requested()) stopped.push_back(handle);
        }
        for (CURL* const handle : stopped) end(handle, CURLE_ABORTED_BY_CALLBACK);
    }

    void end_finished() {
        int left = 0;
        while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
            if (message->msg == CURLMSG_DONE) end(message->easy_handle, message->data.result);
        }
    }

    void end(CURL* handle, CURLcode code) {
        auto node = running_.extract(handle);
        curl_multi_remove_handle(multi_.get(), handle);
        Running& running = node.mapped();
        HttpResponse response;
        std::exception_ptr error;
        try {
            response = running.transfer.take_response(code);
        } catch (const HttpError&) {
            error = std::current_exception();
        }
        curl_easy_reset(handle);
        // After an error the handle is dropped: the next request does not meet what went wrong.
        if (!error && free_.size() < kHandlesKept) free_.push_back(std::move(running.easy));
        running.asked.done(std::move(response), error);
    }

    const curl::MultiHandle multi_;
    std::atomic<bool> is_stopping_{false};
    std::atomic<bool> has_stops_{false};
    Mutex mutex_;
    std::vector<Asked> asked_ EBB_GUARDED_BY(mutex_);
    // Of the thread alone.
    std::vector<curl::EasyHandle> free_;
    std::map<CURL*, Running> running_;
    std::jthread thread_;  // last: it uses all of the above
};

HttpTransfers::HttpTransfers() {
    curl::initialize();
    loop_ = std::make_unique<Loop>();
}

HttpTransfers::~HttpTransfers() = default;

void HttpTransfers::begin(HttpRequest request, Done done) {
    loop_->begin(std::move(request), std::move(done));
}

}  // namespace ebb
