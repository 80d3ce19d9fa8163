#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "cli/cpp_file.h"
#include "cli/definition_file.h"
#include "cli/embed_command.h"
#include "cli/exit_code.h"
#include "cli/output_file.h"
#include "cli/payload_argument.h"
#include "cli/picture.h"
#include "cli/text.h"

namespace ebb::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBegin = "<!-- ebb: ";
constexpr std::string_view kBeginEnd = " -->";
constexpr std::string_view kEnd = "<!-- /ebb -->";

/// As `diff`: another exit code than that of an error.
constexpr int kIsOld = 1;
constexpr std::size_t kPageBytesMax = std::size_t{16} << 20;

/// A Markdown text whose pictures of workflows are drawn again.
class Page {
 public:
    Page(Session& session, const std::string& path) : session_(session), path_(path) {}

    /// The text with the pictures as they are now.
    std::string redraw(const std::string& text) {
        std::string result;
        std::string fence;
        bool is_in_picture = false;
        int number = 0;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            std::string_view line = std::string_view(text).substr(at, end - at);
            if (line.ends_with('\r')) line.remove_suffix(1);
            const std::size_t next = std::min(end + 1, text.size());
            ++number;
            if (is_in_picture) {
                if (line == kEnd) {
                    is_in_picture = false;
                    result.append(text, at, next - at);
                }
                at = next;
                continue;
            }
            result.append(text, at, next - at);
            if (const std::string mark = fence_of(line); !mark.empty()) {
                // A shorter fence does not end a longer one.
                if (fence.empty()) {
                    fence = mark;
                } else if (mark.starts_with(fence)) {
                    fence.clear();
                }
            } else if (fence.empty() && line.starts_with(kBegin) && line.ends_with(kBeginEnd)) {
                line.remove_prefix(kBegin.size());
                line.remove_suffix(kBeginEnd.size());
                if (!result.ends_with('\n')) result += '\n';
                begin_line_ = number;
                result += picture_of(std::string(line));
                is_in_picture = true;
                ++count_;
            }
            at = next;
        }
        if (!is_in_picture) return result;
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "{}:{}: the picture has no end. Write {} behind the place for it.",
                one_line(path_),
                begin_line_,
                kEnd
            )
        );
    }

    std::size_t count() const { return count_; }

 private:
    Session& session_;
    std::string path_;
    int begin_line_ = 0;
    std::size_t count_ = 0;

    static std::string fence_of(std::string_view line) {
        const std::size_t at = std::min(line.find_first_not_of(' '), line.size());
        for (const char mark : {'`', '~'}) {
            const std::size_t end = std::min(line.find_first_not_of(mark, at), line.size());
            if (end - at >= 3) return std::string(end - at, mark);
        }
        return {};
    }

    /// A block of Mermaid: what the file beside the page says.
    std::string picture_of(const std::string& name) {
        const std::string file = (fs::path(path_).parent_path() / name).string();
        Definition definition;
        diagram::Notes notes;
        if (names_cpp_file(file)) {
            CppDefinition found = read_cpp_workflow(file);
            if (!found.file.problems.empty()) throw InvalidDefinitionFile{std::move(found.file)};
            notes = source::notes_of(found.workflow);
            definition = std::move(found.file.definition);
        } else {
            definition = load_definition_file(file, session_).definition;
        }
        const std::string text = draw_picture(session_, {definition, {}, notes}, "mermaid", false);
        return fmt::format("```mermaid\n{}{}```\n", text, text.ends_with('\n') ? "" : "\n");
    }
};

}  // namespace

int embed_pictures(Session& session, const EmbedOptions& options) {
    bool is_old = false;
    for (const std::string& path : options.pages) {
        const std::string text = read_file(path, kPageBytesMax);
        Page page(session, path);
        const std::string now = page.redraw(text);
        if (page.count() == 0) {
            throw Error(
                ErrorCode::InvalidArgument,
                fmt::format(
                    "{} has no place for a picture. Write {}FILE{} on a line, and {} on the next "
                    "one.",
                    one_line(path),
                    kBegin,
                    kBeginEnd,
                    kEnd
                )
            );
        }
        if (now == text) continue;
        is_old = true;
        if (options.only_checks) {
            session.note(fmt::format(
                "{} has an old picture. Run `ebb diagram --embed {}`.\n",
                one_line(path),
                shell_word(path)
            ));
        } else {
            write_file(path, now);
            session.note(fmt::format("Wrote {}\n", one_line(path)));
        }
    }
    return is_old && options.only_checks ? kIsOld : kOk;
}

}  // namespace ebb::cli
