#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include <ebb/yaml.h>

#include "core/model/document.h"
#include "core/model/reader.h"
#include "core/model/type_library.h"
#include "core/model/writer.h"
#include "yaml/yaml_document.h"
#include "yaml/yaml_writer.h"

namespace ebb {

namespace {

struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void throw_unreadable(const std::filesystem::path& path) {
    if (errno == ENOENT) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("The file \"{}\" does not exist.", path.string())
        );
    }
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "The file \"{}\" cannot be read: {}.",
            path.string(),
            std::generic_category().message(errno)
        )
    );
}

/// At most one byte more than is allowed, so that the reader can say that it is too much.
std::string read_file(const std::filesystem::path& path) {
    const std::unique_ptr<std::FILE, FileCloser> file(std::fopen(path.c_str(), "rb"));
    if (file == nullptr) throw_unreadable(path);
    std::string text;
    std::array<char, 16'384> buffer;
    while (text.size() <= DefinitionLimits::kDefinitionBytesMax) {
        const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), file.get());
        if (size == 0) break;
        text.append(buffer.data(), size);
    }
    if (std::ferror(file.get()) != 0) throw_unreadable(path);
    return text;
}

}  // namespace

Definition parse_definition_yaml(std::string_view text, std::string_view file_name) {
    const std::string file(file_name);
    return model::read_and_check(
        yaml::parse_yaml_document(text, file), {.file = file, .places = yaml::places_in(text)}
    );
}

std::string definition_to_yaml(const Definition& definition) {
    return yaml::write_yaml(model::write_definition(definition));
}

namespace {

struct LoadedFile {
    std::string text;
    bool is_yaml = false;

    model::Document document(const std::string& file) const {
        return is_yaml ? yaml::parse_yaml_document(text, file)
                       : model::parse_json_document(text, file);
    }
};

LoadedFile load_file(const std::filesystem::path& path) {
    const std::string extension = path.extension().string();
    const bool is_yaml = extension == ".yaml" || extension == ".yml";
    if (!is_yaml && extension != ".json") {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("The definition {} must end in .yaml, .yml or .json.", path.string())
        );
    }
    return {.text = read_file(path), .is_yaml = is_yaml};
}

}  // namespace

Definition parse_definition_yaml(
    std::string_view text, std::string_view file_name, const TypeLibrary& types
) {
    const std::string file(file_name);
    return model::read_and_check(
        yaml::parse_yaml_document(text, file),
        {.file = file, .types = &types.data(), .places = yaml::places_in(text)}
    );
}

void add_types_yaml(TypeLibrary& types, std::string_view text, const std::string& file) {
    model::add_types(types.data(), yaml::parse_yaml_document(text, file), file);
}

Definition load_definition(const std::filesystem::path& path, const TypeLibrary& types) {
    const LoadedFile loaded = load_file(path);
    const std::string file = path.string();
    return model::read_and_check(
        loaded.document(file),
        {.file = file,
         .types = &types.data(),
         .places = loaded.is_yaml ? yaml::places_in(loaded.text) : model::TextPlaces()}
    );
}

TypeLibrary load_types(const std::filesystem::path& path) {
    TypeLibrary types;
    const std::string file = path.string();
    model::add_types(types.data(), load_file(path).document(file), file);
    return types;
}

}  // namespace ebb
