#include "cli/output_file.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ebb::cli {

namespace {

mode_t mode_of(OutputFile::Readers readers) {
    return readers == OutputFile::Readers::Owner ? 0600 : 0666;
}

/// A device or a pipe cannot be truncated or synced to disk.
bool is_regular(const FileDescriptor& file) {
    struct stat status{};
    return fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

OutputFile::OutputFile(std::string path, Readers readers) : path_(std::move(path)) {
    const mode_t mode = mode_of(readers);
    file_ = FileDescriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    is_new_ = file_.is_open();
    if (!is_new_ && errno == EEXIST) {
        // O_CREAT: the path may be a link to a file that does not exist yet.
        file_ = FileDescriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, mode));
    }
    if (!file_.is_open()) refuse(errno);
}

OutputFile::~OutputFile() {
    if (is_new_ && !is_written_) ::unlink(path_.c_str());
}

void OutputFile::write(const std::string& text) {
    is_written_ = true;
    const bool is_file = is_regular(file_);
    if (is_file && ::ftruncate(file_.get(), 0) != 0) refuse(errno);
    try {
        write_all(file_, text);
    } catch (const std::system_error& error) {
        refuse(error.code().value());
    }
    // Errors such as a full disk or an exceeded quota may appear only here.
    if (is_file && ::fsync(file_.get()) != 0) refuse(errno);
}

void OutputFile::refuse(int error) const {
    throw std::system_error(
        error, std::generic_category(), fmt::format("The file \"{}\" cannot be written", path_)
    );
}

void write_file(const std::string& path, const std::string& text) {
    OutputFile(path, OutputFile::Readers::AsMasked).write(text);
}

}  // namespace ebb::cli
