// Sessions with the language server as files: tests/golden/lsp/*.txt. A file has texts with marks
// and requests about them, each with its answer. `EBB_APPROVE=1` writes the answers again.
//
//   > open NAME       a text follows, a line behind each `|`; `\r`, `\t` and `\ufeff` stand for
//                     what cannot be seen, and a `\` at the end of the last line for no line break.
//                     «1» is a mark and not a part of the text
//   > METHOD 1 WORD   a request at mark 1 (codeAction: from it to the mark after it); WORD is the
//                     new name, the text that is typed, or the format
//   < ...             what the server says; a range is written as LINE:CHARACTER-LINE:CHARACTER

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include <gtest/gtest.h>

#include "client.h"
#include "ebb_test_dirs.h"
#include "lsp/positions.h"

namespace ebb::lsp::test {
namespace {

namespace fs = std::filesystem;

/// Pictures and long explanations are tested elsewhere.
constexpr std::size_t kTextMax = 160;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

bool is_position(const Json& json) {
    return json.is_object() && json.size() == 2 && json.contains("line") &&
           json.contains("character");
}

std::string place_text(const Json& position) {
    return position["line"].dump() + ":" + position["character"].dump();
}

/// Ranges as one word, and long texts cut.
Json shortened(const Json& json) {
    if (is_position(json)) return place_text(json);
    const bool is_range = json.is_object() && json.size() == 2 && json.contains("start") &&
                          is_position(json["start"]) && is_position(json["end"]);
    if (is_range) return place_text(json["start"]) + "-" + place_text(json["end"]);
    if (json.is_string()) {
        const auto& text = json.get_ref<const std::string&>();
        return text.size() <= kTextMax ? Json(text) : Json(text.substr(0, 20) + "...");
    }
    if (!json.is_structured()) return json;
    Json copy = json;
    for (Json& part : copy) part = shortened(part);
    return copy;
}

class Session {
 public:
    explicit Session(std::istream& script) : script_(script) {}

    /// The script with the answers as they are.
    std::string run() {
        while (std::getline(script_, line_)) {
            if (line_.starts_with("< ") || line_ == "<") continue;
            if (line_.starts_with("|")) {
                text_ += line_.substr(1) + "\n";
                out_ << line_ << "\n";
                continue;
            }
            open();
            out_ << line_ << "\n";
            if (line_.starts_with("> open ")) {
                name_ = line_.substr(7);
                text_.clear();
                is_opening_ = true;
            } else if (line_.starts_with("> ")) {
                request(line_.substr(2));
            }
        }
        open();
        return out_.str();
    }

    int requests() const { return requests_; }

 private:
    std::istream& script_;
    std::ostringstream out_;
    std::string line_;
    std::string name_;
    std::string text_;
    bool is_opening_ = false;
    std::map<std::string, std::size_t> marks_;
    Client client_{"utf-16", Client::Snippets::Known};
    int requests_ = 0;

    void open() {
        if (!std::exchange(is_opening_, false)) return;
        replace_all(text_, "\\r", "\r");
        replace_all(text_, "\\t", "\t");
        replace_all(text_, "\\ufeff", "\ufeff");
        if (text_.ends_with("\\\n")) text_.resize(text_.size() - 2);
        marks_.clear();
        for (std::size_t at = text_.find("«"); at != std::string::npos; at = text_.find("«")) {
            constexpr std::size_t kQuote = std::string_view("«").size();
            const std::size_t end = text_.find("»", at);
            marks_[text_.substr(at + kQuote, end - at - kQuote)] = at;
            text_.erase(at, end + kQuote - at);
        }
        for (const Json& message : client_.open(text_, "file:///w/" + name_)) {
            const auto method = message["method"].get<std::string>();
            const bool is_list = method == "textDocument/publishDiagnostics";
            say(Json{{method, is_list ? message["params"]["diagnostics"] : message["params"]}});
        }
    }

    void say(const Json& answer) {
        const Json shown = shortened(answer);
        if (!shown.is_array() || shown.empty()) {
            out_ << "< " << shown.dump() << "\n";
            return;
        }
        for (const Json& part : shown) out_ << "< " << part.dump() << "\n";
    }

    void request(const std::string& words) {
        std::istringstream stream(words);
        std::string method;
        std::string mark;
        std::string word;
        stream >> method >> mark >> word;
        const bool is_of_ebb = method.starts_with("ebb/") || method.starts_with("workspace/");
        if (!is_of_ebb) method = "textDocument/" + method;
        const LineIndex lines(text_, Encoding::Utf16);
        const auto place = [&](const std::string& name) {
            return marks_.contains(name) ? to_json(lines.position(marks_[name]))
                                         : to_json(Position{});
        };
        Json params = {{"position", place(mark)}};
        params["range"] = {
            {"start", place(mark)}, {"end", place(marks_.contains(word) ? word : mark)}
        };
        if (method.ends_with("inlayHint")) {
            params["range"] = {
                {"start", to_json(Position{})}, {"end", to_json(lines.position(text_.size()))}
            };
        }
        params["positions"] = Json::array({place(mark)});
        params["context"] = {{"includeDeclaration", true}, {"diagnostics", Json::array()}};
        params["newName"] = word;
        params["ch"] = "\n";
        params["query"] = mark;
        if (!word.empty()) params["format"] = word;
        const Json answer = client_.ask(method, params);
        ++requests_;
        if (method == "textDocument/completion" && answer.is_object()) {
            Json labels = Json::array();
            for (const Json& item : answer["items"]) labels.push_back(item["label"]);
            out_ << "< " << labels.dump() << "\n";
            if (!answer["items"].empty()) say(answer["items"][0]);
            return;
        }
        say(answer);
    }
};

std::vector<fs::path> sessions() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(EBB_SOURCE_DIR "/tests/golden/lsp")) {
        if (entry.path().extension() == ".txt") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

TEST(GoldenSessions, are_answered_as_their_files_say) {
    const bool is_approving = std::getenv("EBB_APPROVE") != nullptr;
    int requests = 0;
    for (const fs::path& file : sessions()) {
        std::ifstream stream(file);
        std::ostringstream content;
        content << stream.rdbuf();
        std::istringstream script(content.str());
        Session session(script);
        const std::string answered = session.run();
        requests += session.requests();
        if (is_approving) {
            std::ofstream(file) << answered;
        } else {
            EXPECT_EQ(answered, content.str()) << file;
        }
    }
    EXPECT_GE(requests, 120) << "each feature is shown several times";
}

}  // namespace
}  // namespace ebb::lsp::test
