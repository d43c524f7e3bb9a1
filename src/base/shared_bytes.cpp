#include <oriel/shared_bytes.hpp>

namespace oriel::detail {

constinit thread_local bool has_stored = false;

}  // namespace oriel::detail
