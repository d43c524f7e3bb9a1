#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "mpi/call.hpp"
#include "mpi/objects.hpp"
#include "mpi/win.hpp"

namespace oriel::mpi {

struct Keyval {
  Keyval(int its_number, std::function<int(Win&, AttributeValue&)> callback)
      : number(its_number), on_delete(std::move(callback)) {}
  Keyval(const Keyval&) = delete;
  Keyval& operator=(const Keyval&) = delete;
  ~Keyval() {
    int is_over = 0;
    PMPI_Finalized(&is_over);
    int freed = number;
    if (is_over == 0) PMPI_Win_free_keyval(&freed);
  }

  /// The number is not given again before the native keyval is freed, so that an attribute of a
  /// keyval that the program has freed is not taken for one of another.
  const int number;
  /// Returns an error code. The value is a copy.
  const std::function<int(Win&, AttributeValue&)> on_delete;
};

namespace {

/// Those that the program has not freed.
class Keyvals {
 public:
  static Keyvals& all() {
    static auto* const instance = new Keyvals;  // windows may be alive when statics end
    return *instance;
  }
  void add(std::shared_ptr<const Keyval> keyval) {
    const std::scoped_lock lock(mutex_);
    keyvals_.insert_or_assign(keyval->number, std::move(keyval));
  }
  /// Null: none.
  [[nodiscard]] std::shared_ptr<const Keyval> find(int number) {
    const std::scoped_lock lock(mutex_);
    const auto found = keyvals_.find(number);
    return found == keyvals_.end() ? nullptr : found->second;
  }
  /// Null: none. What is returned may be its last owner.
  [[nodiscard]] std::shared_ptr<const Keyval> take(int number) {
    const std::scoped_lock lock(mutex_);
    const auto node = keyvals_.extract(number);
    return node.empty() ? nullptr : node.mapped();
  }

 private:
  std::mutex mutex_;
  std::map<int, std::shared_ptr<const Keyval>> keyvals_;
};

std::shared_ptr<const Keyval> keyval_of(int number) {
  auto keyval = Keyvals::all().find(number);
  if (keyval == nullptr)
    fail(MPI_ERR_KEYVAL, fmt::format("{} is no keyval that MPI_Win_create_keyval made", number));
  return keyval;
}

/// A predefined attribute, as C sees it and as Fortran does.
struct Predefined {
  const void* address = nullptr;
  MPI_Aint integer = 0;
};

bool find_predefined(const Win& window, int keyval, Predefined& found) {
  switch (keyval) {
    case MPI_WIN_BASE:
      found = {window.base, reinterpret_cast<MPI_Aint>(window.base)};
      return true;
    case MPI_WIN_SIZE:
      found = {&window.bytes, window.bytes};
      return true;
    case MPI_WIN_DISP_UNIT:
      found = {&window.unit, window.unit};
      return true;
    case MPI_WIN_CREATE_FLAVOR:
      found = {&window.flavor, window.flavor};
      return true;
    case MPI_WIN_MODEL:
      found = {&window.model, window.model};
      return true;
    default:
      return false;
  }
}

}  // namespace

void register_keyval(int keyval, MPI_Win_delete_attr_function* on_delete, void* extra_state) {
  auto call = [=](Win& window, AttributeValue& value) {
    void* const seen = value.is_fortran ? &value.integer : value.pointer;
    return on_delete == nullptr ? MPI_SUCCESS
                                : on_delete(window.handle(), keyval, seen, extra_state);
  };
  Keyvals::all().add(std::make_shared<Keyval>(keyval, std::move(call)));
}

void register_fortran_keyval(int keyval, FortranDelete* on_delete, MPI_Aint extra_state) {
  auto call = [=](Win& window, AttributeValue& value) {
    MPI_Fint handle = window.fortran();
    MPI_Fint number = keyval;
    MPI_Aint seen = value.is_fortran ? value.integer : reinterpret_cast<MPI_Aint>(value.pointer);
    MPI_Aint state = extra_state;
    MPI_Fint error = MPI_SUCCESS;
    on_delete(&handle, &number, &seen, &state, &error);
    return static_cast<int>(error);
  };
  Keyvals::all().add(std::make_shared<Keyval>(keyval, std::move(call)));
}

bool free_keyval(int keyval) {
  return Keyvals::all().take(keyval) != nullptr;
}

const Attributes::Attribute* Attributes::find(int keyval) const {
  for (const Attribute& attribute : attributes_)
    if (attribute.keyval->number == keyval) return &attribute;
  return nullptr;
}

const AttributeValue* Attributes::find_value(int keyval) const {
  if (const Attribute* const attribute = find(keyval)) return &attribute->value;
  keyval_of(keyval);
  return nullptr;
}

void Attributes::set(Win& window, int keyval, void* value) {
  replace(window, keyval, {.pointer = value});
}

void Attributes::set_fortran(Win& window, int keyval, MPI_Aint value) {
  replace(window, keyval, {.integer = value, .is_fortran = true});
}

void Attributes::replace(Win& window, int keyval, AttributeValue value) {
  std::list<Attribute> made{{keyval_of(keyval), value}};
  std::unique_lock lock(mutex_);
  if (const Attribute* const old = find(keyval); old != nullptr) {
    const Attribute ended = *old;
    lock.unlock();
    end(window, ended);
    lock.lock();
  }
  attributes_.splice(attributes_.end(), made);
}

bool Attributes::get(const Win& window, int keyval, void** value) const {
  if (Predefined found; find_predefined(window, keyval, found)) {
    *value = const_cast<void*>(found.address);  // C's binding has no const
    return true;
  }
  const std::scoped_lock lock(mutex_);
  const AttributeValue* const found = find_value(keyval);
  if (found == nullptr) return false;
  *value = found->is_fortran ? const_cast<MPI_Aint*>(&found->integer) : found->pointer;
  return true;
}

bool Attributes::get_fortran(const Win& window, int keyval, MPI_Aint* value) const {
  if (Predefined found; find_predefined(window, keyval, found)) {
    *value = found.integer;
    return true;
  }
  const std::scoped_lock lock(mutex_);
  const AttributeValue* const found = find_value(keyval);
  if (found == nullptr) return false;
  *value = found->is_fortran ? found->integer : reinterpret_cast<MPI_Aint>(found->pointer);
  return true;
}

void Attributes::remove(Win& window, int keyval) {
  std::unique_lock lock(mutex_);
  const Attribute* const found = find(keyval);
  if (found == nullptr) {
    keyval_of(keyval);
    fail(MPI_ERR_KEYVAL, fmt::format("no attribute of keyval {} is set", keyval));
  }
  const Attribute ended = *found;
  lock.unlock();
  end(window, ended);
}

void Attributes::clear(Win& window) {
  // One by one: a callback may set or delete others.
  while (true) {
    std::unique_lock lock(mutex_);
    if (attributes_.empty()) return;
    const Attribute last = attributes_.back();
    lock.unlock();
    end(window, last);
  }
}

void Attributes::end(Win& window, Attribute attribute) {
  const int status = attribute.keyval->on_delete(window, attribute.value);
  if (status != MPI_SUCCESS)
    fail(status, fmt::format("the delete callback of keyval {} returned {}",
                             attribute.keyval->number, status));
  const std::scoped_lock lock(mutex_);
  attributes_.remove_if([&](const Attribute& one) { return one.keyval == attribute.keyval; });
}

}  // namespace oriel::mpi
