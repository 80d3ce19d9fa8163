#pragma once

#include <string>
#include <vector>

#include "server/api/problem.h"
#include "server/http/http.h"

// What people see who follow a signed link. A page needs no script, and nothing of it is fetched
// from elsewhere.

namespace ebb::server {

struct CallbackPage {
    std::string title;
    std::vector<std::string> lines{};  ///< sentences
    bool has_form = false;
    bool is_decision = false;     ///< of the form: two buttons and a comment, or one button
    std::string instance_href{};  ///< empty = none
};

http::Response callback_page(const CallbackPage& page);
http::Response callback_problem_page(const Problem& problem);

}  // namespace ebb::server
