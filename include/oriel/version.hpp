#pragma once
/// The version of the headers a program was compiled with (semantic versioning; CMake reads it from
/// here).

#define ORIEL_VERSION_MAJOR 0
#define ORIEL_VERSION_MINOR 1
#define ORIEL_VERSION_PATCH 0
#define ORIEL_VERSION_STRING "0.1.0"
