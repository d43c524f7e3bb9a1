/// Lock and get: a look at somebody else's data while nobody is half-way through a change of it.
///
///     mpirun -n 4 ./03_lock_get

#include <array>
#include <cstdio>
#include <numeric>
#include <oriel/oriel.hpp>
#include <span>

int main(int argc, char** argv) {
  oriel::Runtime job(argc, argv);
  const oriel::Team& world = job.world();
  constexpr oriel::Rank kBank{0};
  constexpr int kAccounts = 16;
  constexpr int kRounds = 100;

  // The accounts, and behind them the number of transfers. Only the bank has memory here.
  std::array<long, kAccounts + 1> book{};
  const auto accounts = std::span(book).first(kAccounts);
  auto window = oriel::Window<long>::allocate(world, world.rank() == kBank ? book.size() : 0);

  bool balanced = true;
  for (int round = 0; round < kRounds; ++round) {
    {
      // Exclusive: nobody else reads or changes the book until the end of this scope.
      const auto guard = window.lock(kBank, oriel::LockMode::exclusive);
      window.get(book, kBank, 0);
      window.flush(kBank);  // the book is here
      book[static_cast<std::size_t>((world.rank() + round) % kAccounts)] -= 10;
      book[static_cast<std::size_t>((world.rank() + 3 * round + 1) % kAccounts)] += 10;
      ++book.back();
      window.put(book, kBank, 0);
    }  // the guard completes the put, then gives the lock back

    // Shared: others may look at the same time, but not change anything.
    const auto guard = window.lock(kBank, oriel::LockMode::shared);
    window.get(book, kBank, 0);
    window.flush(kBank);
    balanced = balanced && std::reduce(accounts.begin(), accounts.end()) == 0;
  }

  window.fence();  // every rank has made its transfers
  const long transfers = window.get(kBank, kAccounts);
  const bool right = balanced && transfers == long{kRounds} * world.size();
  std::printf("rank %d: %ld transfers, the book was %s\n", int{world.rank()}, transfers,
              balanced ? "always balanced" : "NOT always balanced");
  return right ? 0 : 1;
}
