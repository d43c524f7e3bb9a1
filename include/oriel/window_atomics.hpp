#pragma once
/// Accumulates, fetch-and-op and compare-and-swap: the atomic operations of Window<T>.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <oriel/layout.hpp>
#include <oriel/mapped_parts.hpp>
#include <oriel/operations.hpp>
#include <oriel/request.hpp>
#include <oriel/window_bytes.hpp>

namespace oriel {

/// Part of Window<T>, which makes it public.
template <class T>
class WindowAtomics : protected WindowBytes {
 public:
  /// Atomically combines each element of the target with one of `values` by `operation`:
  /// target = target op value [MPI_Accumulate]. Operations are oriel::op::sum, prod, min, max,
  /// band, bor, bxor, land, lor, lxor, minloc, maxloc, replace, no_op; what makes no sense for T
  /// does not compile. Atomic per element with every other accumulate, fetch and compare-and-swap
  /// of any rank on this window, whatever their operations and counts (not with put, get or plain
  /// stores). Same origin, same target, same location: in program order.
  ///
  /// Completion: `values` may be reused on return; remotely as put().
  /// Cost: where ranks of one machine have all parts mapped, a CPU atomic per integer, and all else
  /// at the speed of memory, under a lock of each 16 KiB (plain addition at the speed of memory,
  /// too, with WindowOptions::no_concurrent_accumulate); in created and dynamic windows the same by
  /// a thread of the target, or a lock of the target for elements of more than 8 bytes; through a
  /// device one NIC atomic per 8-byte integer sum, a read and a compare-and-swap per 8-byte integer
  /// otherwise (and per double with WindowOptions::single_element), and a lock, get, put and unlock
  /// for all else: then it waits for them. No alignment is needed, but elements of 2, 4 or 8 bytes
  /// that are not at a multiple of their size at the target go the slower way of all else.
  template <class Op>
  void accumulate(std::span<const T> values, Rank target, std::size_t offset,
                  Op /*operation*/) requires Accumulable<T, Op> {
    WindowBytes::accumulate(element_type<T>(), Op::code, values.data(), nullptr, values.size(),
                            at("accumulate", target, offset));
  }
  template <class Op>
  void accumulate(const T& value, Rank target, std::size_t offset,
                  Op operation) requires Accumulable<T, Op> {
    accumulate(std::span(&value, 1), target, offset, operation);
  }
  template <class Op>
  void accumulate(std::span<const T> values, const Layout& from, Rank target, std::size_t offset,
                  const Layout& to, Op operation) requires Accumulable<T, Op> {
    window::check_origin("accumulate", from, values.size());
    WindowBytes::accumulate(what(operation, values.data(), from, nullptr, from, to),
                            at("accumulate", target, offset));
  }
  /// accumulate() with a completion of its own [MPI_Raccumulate].
  template <class Op>
  [[nodiscard]] Request raccumulate(std::span<const T> values, Rank target, std::size_t offset,
                                    Op operation) requires Accumulable<T, Op> {
    const Layout all = Layout::contiguous(values.size());
    return WindowBytes::raccumulate(what(operation, values.data(), all, nullptr, all, all),
                                    at("raccumulate", target, offset));
  }

  /// accumulate() that also brings the old values [MPI_Get_accumulate].
  ///
  /// Completion: `results` are there after flush_local() or flush(). With no_op the values are not
  /// looked at, but their number counts.
  /// Errors: also invalid_argument, if values and results are not equally many.
  template <class Op>
  void get_accumulate(std::span<const T> values, std::span<T> results, Rank target,
                      std::size_t offset, Op operation) requires Accumulable<T, Op> {
    const TargetBytes where = at("get_accumulate", target, offset);
    if (values.size() == results.size()) {
      return WindowBytes::accumulate(element_type<T>(), Op::code, values.data(), results.data(),
                                     values.size(), where);
    }
    const Layout all = Layout::contiguous(values.size());  // is refused
    WindowBytes::accumulate(what(operation, values.data(), all, results.data(),
                                 Layout::contiguous(results.size()), all),
                            where);
  }
  template <class Op>
  void get_accumulate(std::span<const T> values, const Layout& from, std::span<T> results,
                      const Layout& into, Rank target, std::size_t offset, const Layout& to,
                      Op operation) requires Accumulable<T, Op> {
    window::check_origin("get_accumulate", from, values.size());
    window::check_origin("get_accumulate", into, results.size());
    WindowBytes::accumulate(what(operation, values.data(), from, results.data(), into, to),
                            at("get_accumulate", target, offset));
  }
  /// get_accumulate() with a completion of its own [MPI_Rget_accumulate].
  template <class Op>
  [[nodiscard]] Request rget_accumulate(std::span<const T> values, std::span<T> results,
                                        Rank target, std::size_t offset,
                                        Op operation) requires Accumulable<T, Op> {
    const Layout all = Layout::contiguous(values.size());
    return WindowBytes::raccumulate(what(operation, values.data(), all, results.data(),
                                         Layout::contiguous(results.size()), all),
                                    at("rget_accumulate", target, offset));
  }

  /// get_accumulate() of one element, waited for: returns its old value [MPI_Fetch_and_op].
  template <class Op>
  T fetch_and_op(const T& value, Rank target, std::size_t offset,
                 Op /*operation*/) requires Accumulable<T, Op> {
    if constexpr (window::InPlaceInteger<T> && Op::code == OpCode::sum) {
      if (std::byte* const there = find_word(target, offset))
        return window::fetch_add_in_place(there, value);
    }
    alignas(T) std::byte old[sizeof(T)];
    WindowBytes::accumulate_now(element_type<T>(), Op::code, &value, old, 1,
                                at("fetch_and_op", target, offset));
    return std::bit_cast<T>(old);
  }
  /// Starts the same; `result` holds the old value after flush_local() or flush().
  template <class Op>
  void fetch_and_op(const T& value, T& result, Rank target, std::size_t offset,
                    Op /*operation*/) requires Accumulable<T, Op> {
    if constexpr (window::InPlaceInteger<T> && Op::code == OpCode::sum) {
      if (std::byte* const there = find_word(target, offset)) {
        result = window::fetch_add_in_place(there, value);
        return;
      }
    }
    WindowBytes::accumulate(element_type<T>(), Op::code, &value, &result, 1,
                            at("fetch_and_op", target, offset));
  }
  /// Starts the same, with a completion of its own.
  template <class Op>
  [[nodiscard]] Request rfetch_and_op(const T& value, T& result, Rank target, std::size_t offset,
                                      Op operation) requires Accumulable<T, Op> {
    return WindowBytes::raccumulate(what(operation, &value, one(), &result, one(), one()),
                                    at("rfetch_and_op", target, offset));
  }
  /// fetch_and_op() with op::sum.
  T fetch_add(const T& operand, Rank target, std::size_t offset) requires Accumulable<T, op::Sum> {
    return fetch_and_op(operand, target, offset, op::sum);
  }
  void fetch_add(const T& operand, T& result, Rank target,
                 std::size_t offset) requires Accumulable<T, op::Sum> {
    fetch_and_op(operand, result, target, offset, op::sum);
  }
  [[nodiscard]] Request rfetch_add(const T& operand, T& result, Rank target,
                                   std::size_t offset) requires Accumulable<T, op::Sum> {
    return rfetch_and_op(operand, result, target, offset, op::sum);
  }

  /// Atomically stores `swap` in the element if it equals `compare`, bit by bit (-0.0 differs from
  /// 0.0, and the padding of a long double counts), waits, and returns the old value
  /// [MPI_Compare_and_swap]. For types of up to 16 bytes.
  /// Errors, Cost: as accumulate().
  T compare_and_swap(const T& compare, const T& swap, Rank target,
                     std::size_t offset) requires Swappable<T> {
    if constexpr (window::InPlaceInteger<T>) {
      if (std::byte* const there = find_word(target, offset))
        return window::compare_and_swap_in_place(there, compare, swap);
    }
    alignas(T) std::byte old[sizeof(T)];
    WindowBytes::compare_and_swap_now({element_type<T>(), &compare, &swap, old},
                                      at("compare_and_swap", target, offset));
    return std::bit_cast<T>(old);
  }
  /// Starts the same; `result` holds the old value after flush_local() or flush().
  void compare_and_swap(const T& compare, const T& swap, T& result, Rank target,
                        std::size_t offset) requires Swappable<T> {
    if constexpr (window::InPlaceInteger<T>) {
      if (std::byte* const there = find_word(target, offset)) {
        result = window::compare_and_swap_in_place(there, compare, swap);
        return;
      }
    }
    WindowBytes::compare_and_swap({element_type<T>(), &compare, &swap, &result},
                                  at("compare_and_swap", target, offset));
  }
  /// Starts the same, with a completion of its own.
  [[nodiscard]] Request rcompare_and_swap(const T& compare, const T& swap, T& result, Rank target,
                                          std::size_t offset) requires Swappable<T> {
    return WindowBytes::rcompare_and_swap({element_type<T>(), &compare, &swap, &result},
                                          at("rcompare_and_swap", target, offset));
  }

 protected:
  explicit WindowAtomics(WindowBytes bytes) noexcept : WindowBytes(std::move(bytes)) {}

  [[nodiscard]] static TargetBytes at(std::string_view operation, Rank target, std::size_t offset) {
    return {operation, target, window::checked_bytes(operation, offset, sizeof(T))};
  }
  /// Bytes of the target's part, if they are mapped here and within it; else null.
  [[nodiscard]] std::byte* find(Rank target, std::size_t offset, std::size_t bytes) const noexcept {
    if (offset > ~std::size_t{0} / sizeof(T)) return nullptr;
    return find_bytes(target, offset * sizeof(T), bytes);
  }
  /// An element that CPUs combine in place, at a multiple of its size.
  [[nodiscard]] std::byte* find_word(Rank target, std::size_t offset) const noexcept {
    std::byte* const found = find(target, offset, sizeof(T));
    const bool aligned = std::bit_cast<std::uintptr_t>(found) % sizeof(T) == 0;
    return found != nullptr && aligned && mapped()->is_in_place() ? found : nullptr;
  }
  [[nodiscard]] static const Layout& one() {
    static const Layout layout = Layout::contiguous(1);
    return layout;
  }
  template <class Op>
  [[nodiscard]] static Accumulation what(Op, const T* operands, const Layout& from, void* results,
                                         const Layout& into, const Layout& to) {
    return {element_type<T>(), Op::code, operands, from, results, into, to};
  }
};

}  // namespace oriel
