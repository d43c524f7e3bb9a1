#pragma once
/// Marks what programs may link against; everything else stays inside the library.

#define ORIEL_API __attribute__((visibility("default")))
