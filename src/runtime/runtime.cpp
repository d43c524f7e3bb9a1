#include <oriel/runtime.hpp>

#include <memory>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "bootstrap/mpi_bootstrap.hpp"
#include "runtime/runtime_state.hpp"

namespace oriel {
Runtime::Runtime(int& argc, char**& argv)
    : Runtime(std::make_unique<runtime::RuntimeState>(bootstrap::meet_through_mpi(argc, argv),
                                                      base::environment_lines())) {}

Runtime::Runtime(const Communicator& communicator)
    : Runtime(std::make_unique<runtime::RuntimeState>(bootstrap::meet_through(communicator),
                                                      base::environment_lines())) {}

}  // namespace oriel
