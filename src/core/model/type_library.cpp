#include "core/model/type_library.h"

#include <utility>

#include <fmt/format.h>

#include "core/model/check.h"
#include "core/model/walk.h"
#include "core/model/words.h"
#include "support/json.h"

namespace ebb {

namespace model {

namespace {

std::string path_of(const std::string& name) {
    return "/types/" + escape_pointer(name);
}

/// False: it is not a map, which is noted.
bool is_entry(Problems& problems, const Document& value, const std::string& path) {
    if (value.is_map()) return true;
    problems.add(
        "wrong_type",
        path,
        value,
        fmt::format(
            "A type must be a map with \"exec\", \"http\" or \"handler\", but here is {}.",
            describe(value)
        )
    );
    return false;
}

void read_types(TypeLibraryData& library, const MapReader& root, Problems& problems) {
    const Document* types = root.find("types");
    if (types == nullptr) return;
    if (!types->is_map()) {
        root.note(
            "wrong_type",
            "types",
            fmt::format("\"types\" must be a map of names, but here is {}.", describe(*types))
        );
        return;
    }
    for (const Document::Member& member : types->members) {
        const std::string path = path_of(member.key);
        if (!is_entry(problems, member.value, path)) continue;
        const auto [entry, is_new] =
            library.types.try_emplace(member.key, split_entry(member.value));
        if (!is_new) {
            problems.add(
                "duplicate_name",
                path,
                member.value,
                fmt::format("The type {} is already known: keep only one.", in_quotes(member.key))
            );
            continue;
        }
        read_retry(problems, entry->second, path, {});
    }
}

/// A type that is another one with some keys of its own: `handler` names the other.
constexpr const char* kHandlerKey = "handler";

class Resolver {
 public:
    Resolver(TypeLibraryData& library, Problems& problems, const Document& root)
        : library_(library), problems_(problems), root_(root) {}

    void resolve_all() {
        for (auto& [name, entry] : library_.types) resolve(name, entry, 0);
    }

 private:
    void resolve(const std::string& name, TypeEntry& entry, int depth) {
        Json spec = Json::parse(entry.spec);
        const auto handler = spec.find(kHandlerKey);
        if (handler == spec.end()) return;
        const bool is_text = handler->is_string();
        const auto base =
            is_text ? library_.types.find(handler->get<std::string>()) : library_.types.end();
        if (base == library_.types.end() || depth > DefinitionLimits::kNestingMax) {
            std::vector<std::string_view> known;
            for (const auto& [each, unused] : library_.types) known.push_back(each);
            const std::string shown = is_text ? handler->get<std::string>() : to_text(*handler);
            note(
                name,
                depth > DefinitionLimits::kNestingMax
                    ? fmt::format("The type {} refers to itself.", in_quotes(name))
                    : fmt::format("There is no type {}.{}", in_quotes(shown), hint(shown, known))
            );
            entry.spec = "{}";
            return;
        }
        resolve(base->first, base->second, depth + 1);
        Json whole = Json::parse(base->second.spec);
        spec.erase(kHandlerKey);
        whole.update(spec);
        entry.spec = to_text(whole);
        if (entry.retry.type == Document::Type::Null) entry.retry = base->second.retry;
    }

    void note(const std::string& name, std::string message) {
        const std::string path = path_of(name) + "/" + kHandlerKey;
        problems_.add("unknown_type", path, *locate(root_, path).document, std::move(message));
    }

    TypeLibraryData& library_;
    Problems& problems_;
    const Document& root_;
};

}  // namespace

TypeEntry split_entry(const Document& entry) {
    TypeEntry made;
    Document rest = entry;
    if (const Document* retry = entry.find(kRetryKey)) made.retry = *retry;
    std::erase_if(rest.members, [](const auto& member) { return member.key == kRetryKey; });
    made.spec = to_text(rest.to_json());
    return made;
}

AttemptPolicy read_retry(
    Problems& problems,
    const TypeEntry& entry,
    const std::string& entry_path,
    const AttemptPolicy& otherwise
) {
    if (entry.retry.type == Document::Type::Null) return otherwise;
    const std::string path = fmt::format("{}/{}", entry_path, kRetryKey);
    if (!entry.retry.is_map()) {
        problems.add(
            "wrong_type",
            path,
            entry.retry,
            fmt::format(
                "\"retry\" must be a map such as {{max_attempts: 5}}, but here is {}.",
                describe(entry.retry)
            )
        );
        return otherwise;
    }
    const MapReader map(problems, entry.retry, path);
    map.allow_only({"max_attempts", "max_retries", "backoff", "timeout", "step_timeout"});
    const std::size_t before = problems.all().size();
    const AttemptPolicy attempts = read_attempts(map, otherwise);
    Findings findings;
    check_attempts(findings, path, attempts);
    for (const Finding& finding : findings.all()) {
        const auto place = finding.diagnostic.path.substr(path.size());
        const Document* at = locate(entry.retry, place).document;
        problems.add(
            finding.diagnostic.code, finding.diagnostic.path, *at, finding.diagnostic.message
        );
    }
    return problems.all().size() == before ? attempts : otherwise;
}

void add_types(TypeLibraryData& library, const Document& root, const std::string& file) {
    Problems problems;
    TypeLibraryData added = library;
    if (!root.is_map()) {
        problems.add("wrong_type", "", root, "A file of types must be a map with \"types\".");
    } else {
        const std::string path;
        const MapReader map(problems, root, path);
        map.allow_only({"types", "description", "$schema"});
        map.require("types", "it is the map of what the file describes");
        read_types(added, map, problems);
        Resolver(added, problems, root).resolve_all();
    }
    if (!problems.all().empty()) throw_problems(problems, file);
    library = std::move(added);
}

void take_types(Definition& definition, const TypeLibraryData& library) {
    const Walk walk(definition);
    HandlerSpecs taken;
    const auto take = [&](const std::string& handler) {
        const auto type = library.types.find(handler);
        const bool is_own = definition.handlers.contains(handler);
        if (type != library.types.end() && !is_own) taken[handler] = type->second.spec;
    };
    for (const Placed& placed : walk.nodes()) {
        const auto* step = std::get_if<Step>(&placed.node->kind);
        if (step == nullptr) continue;
        take(step->handler.empty() ? placed.node->name : step->handler);
        if (step->compensate) take(step->compensate->handler);
    }
    definition.handlers.merge(taken);
}

}  // namespace model

TypeLibrary::TypeLibrary() : data_(std::make_shared<model::TypeLibraryData>()) {}

model::TypeLibraryData& TypeLibrary::data() {
    // A value: copies do not see what is added.
    if (data_.use_count() > 1) data_ = std::make_shared<model::TypeLibraryData>(*data_);
    return *data_;
}

void TypeLibrary::add_json(std::string_view text, const std::string& file) {
    model::add_types(data(), model::parse_json_document(text, file), file);
}

std::vector<std::string> TypeLibrary::names() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : data_->types) names.push_back(name);
    return names;
}

HandlerSpecs TypeLibrary::specs() const {
    HandlerSpecs specs;
    for (const auto& [name, entry] : data_->types) specs[name] = entry.spec;
    return specs;
}

}  // namespace ebb
