#pragma once

#include <string>

#include "support/os_file.h"

namespace ebb::cli {

/// A file that is known to be writable before there is anything to write. Its old content stays
/// until then. A new file that was never written is removed again.
class OutputFile {
 public:
    /// Who may read a new file. An existing file keeps its mode.
    enum class Readers {
        Owner,     ///< mode 0600, for instances with their data
        AsMasked,  ///< everyone that the umask permits
    };

    /// Opens or creates the file. Throws std::system_error with the file's name if that is not
    /// possible.
    OutputFile(std::string path, Readers readers);
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    ~OutputFile();

    /// Replaces the content of the file. Throws std::system_error with the file's name.
    void write(const std::string& text);

 private:
    [[noreturn]] void refuse(int error) const;

    std::string path_;
    FileDescriptor file_;
    bool is_new_ = false;
    bool is_written_ = false;
};

/// Replaces the content of a file. Throws std::system_error with the file's name if that is not
/// possible.
void write_file(const std::string& path, const std::string& text);

}  // namespace ebb::cli
