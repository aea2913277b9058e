// Databases that tests make.
#pragma once
#include <cstdio>
#include <string>

/// Runs SQL in a new database, by Python's module: the program itself only reads.
inline void make_database(const std::string& path, const std::string& sql) {
  const std::string command =
      "python3 -c \"import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); "
      "d.executescript(sys.stdin.read()); d.commit()\" '" +
      path + "'";
  std::FILE* python = ::popen(command.c_str(), "w");
  std::fwrite(sql.data(), 1, sql.size(), python);
  ::pclose(python);
}
