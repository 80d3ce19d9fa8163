#pragma once

#include <string>

#include "support/os_file.h"

namespace ebb::cli {

/// A file that is known to be writable before there is anything to write. What it held stays until
/// then; one that was made for this and not written goes again.
class OutputFile {
 public:
    /// Who may read a file that is new. An existing file keeps its mode.
    enum class Readers {
        Owner,     ///< mode 0600, for instances with their data
        AsMasked,  ///< everybody whom the umask leaves
    };

    /// Opens the file, or makes it. Throws std::system_error with its name if that is not possible.
    OutputFile(std::string path, Readers readers);
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    ~OutputFile();

    /// Writes the file anew. Throws std::system_error with its name.
    void write(const std::string& text);

 private:
    [[noreturn]] void refuse(int error) const;

    std::string path_;
    FileDescriptor file_;
    bool is_new_ = false;
    bool is_written_ = false;
};

/// Writes a file anew. Throws std::system_error with its name where that is not possible.
void write_file(const std::string& path, const std::string& text);

}  // namespace ebb::cli
