#ifdef EBB_WITH_SERVER

#include "cli/definition_folder.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "cli/payload_argument.h"

namespace ebb::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFilesMax = 1'000;
/// What is larger cannot be a definition.
constexpr std::size_t kFileBytesMax = 2 * DefinitionLimits::kDefinitionBytesMax;

bool is_definition(const fs::path& path) {
    const std::string name = path.filename().string();
    const std::string extension = path.extension().string();
    const bool is_known = extension == ".yaml" || extension == ".yml" || extension == ".json";
    return is_known && !name.starts_with('.');
}

DefinitionFileReport report_of(const DefinitionFile& file, const char* state) {
    DefinitionFileReport report;
    report.file = fs::path(file.path).filename().string();
    report.state = state;
    report.workflow = file.definition.name;
    report.version = file.definition.version;
    return report;
}

void write_event(
    WorkerLog& log, LogLevel level, std::string_view state, std::span<const LogField> fields
) {
    if (state == "registered") return log.write(level, "definition_registered", fields);
    if (state == "invalid") return log.write(level, "definition_invalid", fields);
    if (state == "refused") return log.write(level, "definition_refused", fields);
    if (state == "unreadable") return log.write(level, "workflow_unreadable", fields);
    log.write(level, "definition_gone", fields);
}

}  // namespace

std::vector<std::string> definition_paths(const std::string& folder) {
    std::vector<std::string> paths;
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        // A link counts as what it leads to; what leads nowhere is reported when it is read.
        if (is_definition(entry->path())) paths.push_back(entry->path().string());
        if (paths.size() > kFilesMax) {
            throw Error(
                ErrorCode::LimitExceeded,
                fmt::format("The folder {} has more than {} definitions.", folder, kFilesMax)
            );
        }
    }
    if (error) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("The folder {} cannot be read: {}.", folder, error.message())
        );
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

std::vector<DefinitionFile> DefinitionFolder::scan() {
    std::vector<std::string> names;
    try {
        for (const std::string& path : definition_paths(path_)) {
            names.push_back(fs::path(path).filename().string());
        }
        trouble_.clear();
    } catch (const Error& error) {
        note_unreadable_folder(error);
        return {};
    }
    {
        const Lock lock(mutex_);
        for (auto& [name, known] : known_) {
            known.is_here = std::binary_search(names.begin(), names.end(), name);
        }
    }
    note_gone();
    std::vector<DefinitionFile> changed;
    for (const std::string& name : names) look_at(name, changed);
    return changed;
}

void DefinitionFolder::note_unreadable_folder(const Error& error) {
    if (trouble_ == error.what()) return;
    trouble_ = error.what();
    const LogField fields[] = {{"folder", path_}, {"error", trouble_}};
    log_.write(LogLevel::Error, "definitions_unreadable", fields);
}

void DefinitionFolder::note_gone() {
    std::vector<DefinitionFileReport> gone;
    {
        const Lock lock(mutex_);
        for (const auto& [name, known] : known_) {
            if (!known.is_here && known.report.state != "gone") gone.push_back(known.report);
        }
    }
    for (DefinitionFileReport& report : gone) {
        report.state = "gone";
        report.message = "The file is no longer in the folder. What it registered stays.";
        report.problems.clear();
        const std::string name = report.file;
        note(name, std::move(report), LogLevel::Warning);
        const Lock lock(mutex_);
        // If it comes back, it is read as a new file.
        known_[name].text.clear();
        known_[name].is_done = false;
    }
}

std::optional<DefinitionFile> DefinitionFolder::read(const std::string& path) {
    if (strictness_ == Strictness::Invalid) return read_definition_file(path, session_);
    auto file =
        check_definition_file(read_text_of(path, session_), session_, {.only_workflows = true});
    if (file && file->holds_types) return std::nullopt;
    return file;
}

void DefinitionFolder::look_at(const std::string& name, std::vector<DefinitionFile>& changed) {
    const std::string path = (fs::path(path_) / name).string();
    DefinitionFileReport report{.file = name, .state = "unreadable"};
    DefinitionFile file;
    try {
        std::error_code none;
        if (fs::exists(path, none) && !fs::is_regular_file(path, none)) {
            throw Error(ErrorCode::InvalidArgument, fmt::format("{} is not a regular file.", path));
        }
        std::string text = read_file(path, kFileBytesMax);
        {
            const Lock lock(mutex_);
            Known& known = known_[name];
            if (known.is_done && known.text == text && known.report.state != "unreadable") return;
            known.text = std::move(text);
        }
        auto found = read(path);
        if (!found) return;
        file = std::move(*found);
    } catch (const InvalidDefinitionFile& invalid) {
        // A file of --types.
        file = invalid.file;
    } catch (const Error& error) {
        report.message = error.what();
        {
            const Lock lock(mutex_);
            const Known& known = known_[name];
            const bool is_known = known.report.state == "unreadable";
            if (is_known && known.report.message == report.message) return;
        }
        return note(name, std::move(report), LogLevel::Error);
    }
    if (file.problems.empty()) {
        changed.push_back(std::move(file));
        return;
    }
    const Diagnostic& first = file.problems.front();
    report.state = "invalid";
    report.message = fmt::format("{}:{}: {}", first.line, first.column, first.message);
    report.problems = file.problems;
    note(name, std::move(report), LogLevel::Error);
}

void DefinitionFolder::note(const std::string& name, DefinitionFileReport report, LogLevel level) {
    report.since = session_.now();
    std::vector<LogField> fields{{"file", name}};
    if (!report.workflow.empty()) fields.emplace_back("workflow", report.workflow);
    if (report.version > 0) fields.emplace_back("version", report.version);
    if (!report.problems.empty()) {
        fields.emplace_back("line", report.problems.front().line);
        fields.emplace_back("column", report.problems.front().column);
        fields.emplace_back("problems", report.problems.size());
    }
    if (!report.message.empty()) fields.emplace_back("error", report.message);
    const std::string state = report.state;
    {
        const Lock lock(mutex_);
        Known& known = known_[name];
        known.report = std::move(report);
        known.is_done = true;
    }
    write_event(log_, level, state, fields);
}

void DefinitionFolder::put(DefinitionFile file, const std::function<void(DefinitionFile&)>& put) {
    const std::string name = fs::path(file.path).filename().string();
    try {
        put(file);
        note(name, report_of(file, "registered"), LogLevel::Info);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::WorkflowConflict) throw;
        DefinitionFileReport report = report_of(file, "refused");
        report.message = error.what();
        note(name, std::move(report), LogLevel::Error);
    }
}

std::vector<DefinitionFileReport> DefinitionFolder::reports() const {
    const Lock lock(mutex_);
    std::vector<DefinitionFileReport> reports;
    for (const auto& [name, known] : known_) {
        if (!known.report.state.empty()) reports.push_back(known.report);
    }
    return reports;
}

}  // namespace ebb::cli

#endif
