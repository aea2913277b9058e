// Files and folders by path. std::filesystem throws if a name is too long or a folder may not be
// entered; here that is an Error in this program's words.
#pragma once
#include <filesystem>
#include <vector>

namespace gradcast {

/// Links are followed. Other: a pipe, a device, a socket.
enum class Entry { None, File, Folder, Other };

/// Throws DataError where this machine cannot say (a name that is too long, a closed folder).
Entry entry_at(const std::filesystem::path& path);

/// Throws DataError if no regular file lies at the path. For files that are read twice: a pipe
/// gives nothing the second time.
void require_regular(const std::filesystem::path& path);

/// True where a file lies that this program wrote, or could have written; false where nothing lies.
/// Throws DataError for anything else: a pipe would be waited for, a folder cannot be read.
bool kept_file_at(const std::filesystem::path& path);

/// Everything in a folder. Nothing where it is no folder or cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

/// Makes the folder, and those above it. Throws Error (1) where this machine refuses.
void make_folder(const std::filesystem::path& folder);

/// The folder in which this process runs. Throws Error (1) where it was removed.
std::filesystem::path current_folder();

/// The file of this program: what `set_own_program` said, else what the system says. Throws Error
/// (1) where there is no /proc.
std::filesystem::path own_program();

/// The folder of this code: of the shared library, or of the program that has it inside. "" where
/// the system cannot say.
std::filesystem::path folder_of_code();

/// Sets the file by which a shell starts this program, where an interpreter runs it.
void set_own_program(const std::filesystem::path& program);

}  // namespace gradcast
