#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/definition.h>

#include "core/model/check.h"
#include "core/model/document.h"
#include "core/model/words.h"

namespace ebb::model {

/// A problem and where it belongs among the others.
struct Problem {
    Diagnostic diagnostic;
    std::size_t order = 0;
};

/// What reading a document has found so far; at most kProblemsMax.
class Problems {
 public:
    void add(std::string code, std::string path, const Document& at, std::string message);
    /// The same, at a place of its own: that of a key.
    void add(Diagnostic diagnostic, std::size_t order);

    const std::vector<Problem>& all() const { return problems_; }

    /// A part of the workflow could not be read: what refers to it must not be judged.
    void set_incomplete() { is_incomplete_ = true; }

    bool is_incomplete() const { return is_incomplete_; }

 private:
    std::vector<Problem> problems_;
    bool is_incomplete_ = false;
};

/// Reads the keys of one map. What is absent or wrong gives `otherwise`; what is wrong is noted
/// too. All arguments of the constructor must outlive the reader.
class MapReader {
 public:
    MapReader(Problems& problems, const Document& map, const std::string& path)
        : problems_(problems), map_(map), path_(path) {}

    /// Notes every other key, with the one that was probably meant.
    void allow_only(const std::vector<std::string_view>& keys) const;
    /// Notes `key` when it is absent.
    void require(std::string_view key, std::string_view why) const;

    const Document* find(std::string_view key) const { return map_.find(key); }

    bool has(std::string_view key) const { return find(key) != nullptr; }

    std::string text(std::string_view key) const;
    /// Free text: may be empty.
    std::string free_text(std::string_view key) const;
    /// A text or a bool, since YAML reads `when: true` as a bool. `example` is one that a user can
    /// write there.
    std::string expression(std::string_view key, std::string_view example = "input.amount > 100")
        const;
    std::int64_t integer(std::string_view key, std::int64_t otherwise) const;
    int small_integer(std::string_view key, int otherwise) const;
    double number(std::string_view key, double otherwise) const;
    bool boolean(std::string_view key, bool otherwise) const;
    Duration duration(std::string_view key, Duration otherwise) const;
    /// Any value, as canonical JSON text.
    Payload payload(std::string_view key) const;
    std::vector<std::string> texts(std::string_view key) const;

    template <typename Enum, std::size_t N>
    Enum word(std::string_view key, const std::array<Word<Enum>, N>& words, Enum otherwise) const {
        const Document* value = find(key);
        if (value == nullptr) return otherwise;
        std::array<std::string_view, N> known;
        for (std::size_t i = 0; i < N; ++i) {
            if (value->is_text() && value->text() == words[i].text) return words[i].value;
            known[i] = words[i].text;
        }
        note_word(key, *value, known);
        return otherwise;
    }

    void note(std::string code, std::string_view key, std::string message) const;

    std::string path_of(std::string_view key) const;

    Problems& problems() const { return problems_; }

    const Document& map() const { return map_; }

    const std::string& path() const { return path_; }

 private:
    Problems& problems_;
    const Document& map_;
    const std::string& path_;

    /// With its place, not yet noted.
    Diagnostic problem_of(std::string code, std::string_view key, std::string message) const;
    void note_type(std::string_view key, const Document& value, std::string_view wanted) const;
    void note_word(
        std::string_view key, const Document& value, std::span<const std::string_view> known
    ) const;
};

/// `a number`, `the text "x"`: the value that is in place of another.
std::string describe(const Document& value);

}  // namespace ebb::model
