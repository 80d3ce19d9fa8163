#include "server/api/sign_in.h"

#include <fmt/format.h>

#include <ebb/error.h>

namespace ebb::server {

std::string check_public_url(const std::string& url) {
    if (url.empty()) return url;
    const auto parts = parse_url(url);
    const bool is_origin = parts && (parts->scheme == "https" || parts->scheme == "http") &&
                           !parts->host.empty() && parts->path == "/" &&
                           url.find_first_of("?#@") == std::string::npos;
    if (!is_origin) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("\"{}\" is not a public URL such as https://ebb.example.com.", url)
        );
    }
    return url.ends_with('/') ? url.substr(0, url.size() - 1) : url;
}

SignIn::SignIn(
    const OidcLogin& settings,
    const std::string& public_url,
    AdminStore& store,
    Access& access,
    const Clock& clock
)
    : access_(access),
      public_url_(check_public_url(public_url)),
      logins_(
          settings,
          [this](const HttpRequest& request) {
              HttpRequest stoppable = request;
              stoppable.stop = stop_.get_token();
              return client_.perform(stoppable);
          },
          store,
          clock
      ),
      pool_(
          {.threads = kThreads, .queue_max = kQueueMax, .wait_max = oidc::kAnswerTimeout}, clock
      ) {
    oidc::check_oidc_login(settings);
}

SignIn::~SignIn() {
    stop();
}

void SignIn::stop() {
    stop_.request_stop();
    pool_.stop();
}

std::string SignIn::name() const {
    const OidcLogin& settings = logins_.settings();
    if (!settings.name.empty()) return settings.name;
    const auto parts = parse_url(settings.issuer);
    return parts ? parts->host : settings.issuer;
}

Principal SignIn::by_bearer(const std::string& token) {
    const oidc::Logins::Bearer bearer = logins_.bearer(token);
    return access_.by_oidc(bearer.person, bearer.expires_at);
}

std::string SignIn::origin_of(const http::Request& request) const {
    if (!public_url_.empty()) return public_url_;
    return fmt::format("{}://{}", request.is_tls ? "https" : "http", request.header("Host"));
}

}  // namespace ebb::server
