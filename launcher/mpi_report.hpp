#pragma once

#include <filesystem>
#include <string>

#include "launcher/mpi_program.hpp"

namespace oriel::launcher {

/// What `oriel-info --mpi` tells, for reading.
[[nodiscard]] std::string mpi_text(const std::filesystem::path& path, const MpiProgram& program,
                                   const DropIn& drop_in);
/// Keys stay as they are from version to version; new ones may come.
[[nodiscard]] std::string mpi_json(const std::filesystem::path& path, const MpiProgram& program,
                                   const DropIn& drop_in);

}  // namespace oriel::launcher
