#pragma once
/// All of Oriel that needs no MPI header.

#include <oriel/buffer.hpp>      // IWYU pragma: export
#include <oriel/error.hpp>       // IWYU pragma: export
#include <oriel/operations.hpp>  // IWYU pragma: export
#include <oriel/rank.hpp>        // IWYU pragma: export
#include <oriel/runtime.hpp>     // IWYU pragma: export
#include <oriel/team.hpp>        // IWYU pragma: export
#include <oriel/version.hpp>     // IWYU pragma: export
#include <oriel/window.hpp>      // IWYU pragma: export
