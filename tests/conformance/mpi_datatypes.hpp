#pragma once
/// Layouts as MPI's derived datatypes: the same places by any of the ways that MPI has to say them.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conformance/element.hpp"
#include "conformance/shape.hpp"

namespace oriel::conformance::mpi {

/// A datatype that frees itself, unless it is MPI's own; with its construction as a text.
class Datatype {
 public:
  /// MPI's own.
  Datatype(MPI_Datatype predefined, std::string text) : type_(predefined), text_(std::move(text)) {}
  /// @param make  an MPI_Type_ function, but for its last argument
  template <class Make>
  [[nodiscard]] static Datatype made(std::string text, Make&& make) {
    Datatype result(MPI_DATATYPE_NULL, std::move(text));
    make(&result.type_);
    result.owned_ = true;
    return result;
  }
  Datatype(Datatype&& other) noexcept
      : type_(other.type_),
        owned_(std::exchange(other.owned_, false)),
        text_(std::move(other.text_)) {}
  Datatype& operator=(Datatype&& other) noexcept {
    std::swap(type_, other.type_);
    std::swap(owned_, other.owned_);
    std::swap(text_, other.text_);
    return *this;
  }
  ~Datatype();
  /// The same type; this one frees it.
  [[nodiscard]] Datatype alias() const { return {type_, text_}; }

  void commit();
  [[nodiscard]] MPI_Datatype get() const noexcept { return type_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  MPI_Datatype type_;
  bool owned_ = false;
  std::string text_;
};

/// `count` of a datatype, from the address of a shape's place 0 on.
struct Described {
  Datatype type;
  int count;
};

/// What accumulates on an element work on: a predefined type, one of those that are the same, or
/// bytes for what is opaque.
/// @param choice  the same for all operations that may meet
[[nodiscard]] Datatype basic_type(const Element& element, std::uint64_t choice);
/// What a put or get moves an element as: `basic_type`, its parts, or its bytes.
/// @param choice  the same at the origin and at the target, whose signatures must match
[[nodiscard]] Datatype moved_type(const Element& element, std::uint64_t choice);

/// A shape of elements, in a way that the choice picks; committed.
/// @param element  committed, and outlives the result
[[nodiscard]] Described describe(const Shape& shape, const Datatype& element, std::uint64_t choice);

/// MPI's predefined operation.
[[nodiscard]] MPI_Op operation(OpCode code) noexcept;

/// Errors: std::runtime_error with MPI's words.
void check(int status, const char* call);

}  // namespace oriel::conformance::mpi
