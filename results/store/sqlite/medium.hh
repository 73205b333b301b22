// Who can reach a file: the processes of this machine, or those of others, too.
#pragma once

#include <filesystem>

namespace longhaul::results {

/// On `network` a database is written with a rollback journal: SQLite's log (WAL) needs memory that all its processes
/// share (sqlite.org/wal.html), which two machines do not.
enum class Medium { local, network };

/// By statfs(2)'s f_type. What is unknown is local. Pure.
Medium medium_of_type(long type);

/// Of a directory; one that cannot be asked is local.
Medium medium_of(const std::filesystem::path& directory);

/// What SQLite's header says of a database's last writer (sqlite.org/fileformat.html, offset 18): it kept a rollback
/// journal. False where there is no such file.
bool has_rollback_journal(const std::filesystem::path& file);

}  // namespace longhaul::results
