#pragma once

#include <filesystem>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <ebb/time.h>

namespace ebb {

/// Where mail is handed in, by SMTP.
struct MailServer {
    /// `smtp://HOST[:PORT]` or `smtps://HOST[:PORT]`. With `smtp`, STARTTLS is demanded unless the
    /// host is this machine.
    std::string url;
    std::string user{};  ///< empty = no login
    std::string password{};
    std::filesystem::path ca_file{};  ///< empty = the system's certificates
    Duration timeout = std::chrono::seconds(30);
};

struct Email {
    std::string from;             ///< an address: the caller checks it
    std::vector<std::string> to;  ///< the same
    std::string text;             ///< headers and body (RFC 5322), lines end with CR LF
};

/// The mail was not accepted. `what()` says why, without the password.
class MailError : public std::runtime_error {
 public:
    enum class Kind {
        Failed,   ///< it may be accepted later
        Refused,  ///< the server will never accept it (an answer of 5xx)
        Stopped,
    };

    MailError(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

    Kind kind() const { return kind_; }

 private:
    Kind kind_;
};

/// Whether `url` is that of a MailServer.
bool is_mail_url(const std::string& url);

/// Returns when the server has accepted the mail. Throws MailError.
void send_mail(const MailServer& server, const Email& mail, const std::stop_token& stop);

}  // namespace ebb
