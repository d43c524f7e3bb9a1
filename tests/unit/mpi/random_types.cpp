#include "unit/mpi/random_types.hpp"

#include <array>
#include <cstdint>
#include <iterator>
#include <vector>

namespace oriel::mpi {
namespace {

const MPI_Datatype kBasic[] = {MPI_CHAR,           MPI_SHORT,           MPI_INT,
                               MPI_DOUBLE,         MPI_DOUBLE_INT,      MPI_SHORT_INT,
                               MPI_LONG_DOUBLE,    MPI_LONG_DOUBLE_INT, MPI_2INT,
                               MPI_C_FLOAT_COMPLEX};

class Maker {
 public:
  Maker(std::mt19937_64& random, MPI_Datatype basic) : random_(random), basic_(basic) {}

  RandomType make(int depth) {
    if (depth == 0) {
      const MPI_Datatype named =
          basic_ != MPI_DATATYPE_NULL ? basic_ : kBasic[upto(std::size(kBasic) - 1)];
      return {named, false, "b"};
    }
    using Make = RandomType (Maker::*)(int);
    constexpr Make kMakers[] = {&Maker::dup,           &Maker::contiguous,     &Maker::vector,
                                &Maker::hvector,       &Maker::indexed,        &Maker::hindexed,
                                &Maker::indexed_block, &Maker::hindexed_block, &Maker::structure,
                                &Maker::subarray,      &Maker::darray,         &Maker::resized};
    return (this->*kMakers[upto(std::size(kMakers) - 1)])(depth - 1);
  }

 private:
  int between(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  std::size_t upto(std::size_t most) { return random_() % (most + 1); }
  std::vector<int> some(std::size_t count, int low, int high) {
    std::vector<int> values(count);
    for (int& value : values) value = between(low, high);
    return values;
  }
  std::vector<MPI_Aint> some_bytes(std::size_t count) {
    std::vector<MPI_Aint> values(count);
    for (MPI_Aint& value : values) value = between(-200, 200);
    return values;
  }

  /// Makes one of another: make(part, result).
  template <class Make>
  RandomType of(const char* name, int depth, Make&& make) {
    RandomType part = this->make(depth);
    RandomType result{MPI_DATATYPE_NULL, true, std::string(name) + "(" + part.text + ")"};
    make(part.type, &result.type);
    if (part.is_derived) MPI_Type_free(&part.type);
    return result;
  }

  RandomType dup(int depth) { return of("dup", depth, &MPI_Type_dup); }
  RandomType contiguous(int depth) {
    return of("contiguous", depth, [&](MPI_Datatype part, MPI_Datatype* made) {
      MPI_Type_contiguous(between(0, 4), part, made);
    });
  }
  RandomType vector(int depth) {
    return of("vector", depth, [&](MPI_Datatype part, MPI_Datatype* made) {
      MPI_Type_vector(between(0, 4), between(0, 3), stride(5), part, made);
    });
  }
  RandomType hvector(int depth) {
    return of("hvector", depth, [&](MPI_Datatype part, MPI_Datatype* made) {
      MPI_Type_create_hvector(between(0, 4), between(0, 3), stride(100), part, made);
    });
  }
  RandomType indexed(int depth) {
    return of("indexed", depth, [&](MPI_Datatype part, MPI_Datatype* made) {
      const std::size_t count = upto(4);
      MPI_Type_indexed(static_cast<int>(count), some(count, 0, 3).data(), some(count, -6, 6).data(),
                       part, made);
    });
  }
  RandomType hindexed(int depth) {
    return of("hindexed", depth, [&](MPI_Datatype part, MPI_Datatype* made) {
      const std::size_t count = upto(4);
      MPI_Type_create_hindexed(static_cast<int>(count), some(count, 0, 3).data(),
                               some_bytes(count).data(), part, made);
    });
  }
  RandomType indexed_block(int depth) {
    return of("indexed_block", depth, [&](MPI_Datatype part, MPI_Datatype* made) {
      const std::size_t count = upto(4);
      MPI_Type_create_indexed_block(static_cast<int>(count), between(0, 3),
                                    some(count, -6, 6).data(), part, made);
    });
  }
  RandomType hindexed_block(int depth) {
    return of("hindexed_block", depth, [&](MPI_Datatype part, MPI_Datatype* made) {
      const std::size_t count = upto(4);
      MPI_Type_create_hindexed_block(static_cast<int>(count), between(0, 3),
                                     some_bytes(count).data(), part, made);
    });
  }
  RandomType structure(int depth) {
    const std::size_t count = upto(3);
    std::vector<RandomType> parts;
    std::vector<MPI_Datatype> types;
    RandomType result{MPI_DATATYPE_NULL, true, "struct("};
    for (std::size_t i = 0; i < count; ++i) {
      parts.push_back(make(depth));
      types.push_back(parts.back().type);
      result.text += parts.back().text + ",";
    }
    result.text += ")";
    MPI_Type_create_struct(static_cast<int>(count), some(count, 0, 3).data(),
                           some_bytes(count).data(), types.data(), &result.type);
    for (RandomType& part : parts) {
      if (part.is_derived) MPI_Type_free(&part.type);
    }
    return result;
  }
  RandomType subarray(int depth) {
    return of("subarray", depth, [&](MPI_Datatype part, MPI_Datatype* made) {
      const std::size_t dimensions = 1 + upto(2);
      const std::vector<int> sizes = some(dimensions, 1, 5);
      std::vector<int> taken;
      std::vector<int> starts;
      for (const int size : sizes) {
        taken.push_back(between(1, size));
        starts.push_back(between(0, size - taken.back()));
      }
      MPI_Type_create_subarray(static_cast<int>(dimensions), sizes.data(), taken.data(),
                               starts.data(), order(), part, made);
    });
  }
  RandomType darray(int depth) {
    return of("darray", depth, [&](MPI_Datatype part, MPI_Datatype* made) {
      int bytes = 0;
      MPI_Type_size(part, &bytes);
      if (bytes == 0) return MPI_Type_dup(part, made);  // Open MPI 4 distributes no empty types
      const std::size_t dimensions = 1 + upto(2);
      const std::vector<int> sizes = some(dimensions, 1, 7);
      std::vector<int> processes;
      std::vector<int> distributions;
      std::vector<int> arguments;
      int all = 1;
      for (const int size : sizes) {
        constexpr int kWays[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
        const int way = kWays[upto(2)];
        const int count = way == MPI_DISTRIBUTE_NONE ? 1 : between(1, 3);
        const int least = way == MPI_DISTRIBUTE_BLOCK ? (size + count - 1) / count : 1;
        const bool is_default = way == MPI_DISTRIBUTE_NONE || between(0, 1) == 0;
        distributions.push_back(way);
        processes.push_back(count);
        arguments.push_back(is_default ? MPI_DISTRIBUTE_DFLT_DARG : least + between(0, 1));
        all *= count;
      }
      return MPI_Type_create_darray(all, between(0, all - 1), static_cast<int>(dimensions),
                                    sizes.data(), distributions.data(), arguments.data(),
                                    processes.data(), order(), part, made);
    });
  }
  RandomType resized(int depth) {
    return of("resized", depth, [&](MPI_Datatype part, MPI_Datatype* made) {
      MPI_Type_create_resized(part, between(-30, 30), between(0, 120), made);
    });
  }
  /// Not -1, which Open MPI 4 takes for no stride at all, if it comes to bytes.
  int stride(int most) {
    const int chosen = between(-most, most);
    return chosen != -1 ? chosen : -2;
  }
  int order() { return between(0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN; }

  std::mt19937_64& random_;
  MPI_Datatype basic_;
};

}  // namespace

RandomType make_random_type(std::mt19937_64& random, int depth, MPI_Datatype basic) {
  return Maker(random, basic).make(depth);
}

}  // namespace oriel::mpi
