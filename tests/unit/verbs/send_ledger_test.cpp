#include "transport/verbs/send_ledger.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace oriel::verbs {
namespace {

WorkRecord write_of(std::uint32_t length) {
  return {.operation = Operation::put, .opcode = Opcode::write, .length = length};
}

WorkRecord read_of(std::uint32_t length) {
  return {.operation = Operation::get, .opcode = Opcode::read, .length = length};
}

const WorkRecord& append(SendLedger& ledger, const WorkRecord& record, bool wants_completion) {
  WorkRecord& entry = ledger.next_record();
  entry = record;
  ledger.append(entry, entry.opcode, entry.length, wants_completion);
  return entry;
}

constexpr auto kIgnore = [](const WorkRecord&) {};

TEST(SendLedger, ALoneOperationIsSignalledSoThatPutAndFlushAreOneRequest) {
  SendLedger ledger;
  EXPECT_TRUE(append(ledger, write_of(8), false).signalled);
  EXPECT_TRUE(ledger.signal_last());
  EXPECT_EQ(ledger.staged(), 1U);
}

std::uint32_t append_first(SendLedger& ledger, WorkRecord record) {
  record.signalled = true;
  WorkRecord& entry = ledger.first_record();
  entry = record;
  return ledger.append_first(entry, entry.opcode);
}

TEST(SendLedger, LoneOperationsAllTakeTheFirstPlace) {
  SendLedger ledger;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::uint32_t number = append_first(ledger, write_of(8 + i));
    EXPECT_EQ(SendLedger::place(number), 0U);
    EXPECT_EQ(ledger.record(number).length, 8 + i);
    EXPECT_EQ(ledger.in_flight(), 1U);
    EXPECT_EQ(ledger.staged(), 0U);
    EXPECT_TRUE(ledger.is_sealed());
    EXPECT_TRUE(ledger.is_in_flight(number));
    EXPECT_FALSE(ledger.is_in_flight(number - 1)) << "a number that was left out";
    EXPECT_EQ(ledger.retire_through(number, kIgnore), 1U);
    EXPECT_EQ(ledger.outstanding(), 0U);
  }
}

TEST(SendLedger, OthersGoOnBehindALoneOperation) {
  SendLedger ledger;
  append(ledger, write_of(1), false);
  append(ledger, write_of(2), true);
  ledger.mark_posted(2);
  ledger.retire_through(1, kIgnore);
  const std::uint32_t alone = append_first(ledger, read_of(3));
  EXPECT_TRUE(ledger.reads_outstanding());
  EXPECT_EQ(&append(ledger, write_of(4), true), &ledger.record(alone + 1));
  ledger.mark_posted(1);
  std::vector<std::uint32_t> finished;
  ledger.retire_through(alone + 1, [&](const WorkRecord& it) { finished.push_back(it.length); });
  EXPECT_EQ(finished, (std::vector<std::uint32_t>{3, 4}));
  EXPECT_FALSE(ledger.reads_outstanding());
  EXPECT_TRUE(ledger.has_unread_writes()) << "no read behind the write";
}

TEST(SendLedger, LoneOperationsRunOnWhenTheNumbersWrapAround) {
  SendLedger ledger;
  std::uint32_t last = 0;
  bool wrapped = false;
  for (std::uint64_t i = 0; i <= (std::uint64_t{1} << 32U) / kQueueDepth + 1; ++i) {
    const std::uint32_t number = append_first(ledger, i % 2 == 0 ? write_of(8) : read_of(8));
    wrapped |= number < last;
    last = number;
    ASSERT_EQ(ledger.retire_through(number, kIgnore), 1U);
    ASSERT_EQ(ledger.has_unread_writes(), i % 2 == 0);
  }
  EXPECT_TRUE(wrapped);
}

TEST(SendLedger, OfManyEverySixtyFourthIsSignalled) {
  SendLedger ledger;
  std::vector<std::uint32_t> signalled;
  for (std::uint32_t i = 0; i < 200; ++i) {
    if (append(ledger, write_of(8), false).signalled) signalled.push_back(i);
  }
  EXPECT_EQ(signalled, (std::vector<std::uint32_t>{0, 64, 128, 192}));
}

TEST(SendLedger, WhoWantsACompletionGetsOneAndTheCountStartsAgain) {
  SendLedger ledger;
  append(ledger, write_of(8), false);
  append(ledger, write_of(8), false);
  EXPECT_TRUE(append(ledger, write_of(8), true).signalled);
  for (int i = 0; i < 63; ++i) EXPECT_FALSE(append(ledger, write_of(8), false).signalled) << i;
  EXPECT_TRUE(append(ledger, write_of(8), false).signalled);
}

TEST(SendLedger, SealingMarksAStagedRecordButCannotReachAPostedOne) {
  SendLedger ledger;
  append(ledger, write_of(8), false);
  append(ledger, write_of(8), false);
  ledger.mark_posted(1);
  EXPECT_TRUE(ledger.signal_last()) << "the second is staged";
  EXPECT_TRUE(ledger.record(1).signalled);

  append(ledger, write_of(8), false);
  ledger.mark_posted(2);
  EXPECT_FALSE(ledger.signal_last()) << "the third is with the device, unsignalled";
  EXPECT_TRUE(append(ledger, write_of(0), true).signalled);
  EXPECT_TRUE(ledger.signal_last());
}

TEST(SendLedger, AnEmptyOneNeedsNoSeal) {
  SendLedger ledger;
  EXPECT_TRUE(ledger.signal_last());
  EXPECT_EQ(ledger.outstanding(), 0U);
}

TEST(SendLedger, ACompletionRetiresEverythingBeforeItInOrder) {
  SendLedger ledger;
  for (std::uint32_t i = 1; i <= 5; ++i) append(ledger, write_of(i), false);
  ledger.mark_posted(5);
  std::vector<std::uint32_t> lengths;
  const auto note = [&](const WorkRecord& record) { lengths.push_back(record.length); };
  EXPECT_EQ(ledger.retire_through(2, note), 3U);
  EXPECT_EQ(lengths, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(ledger.in_flight(), 2U);
  EXPECT_FALSE(ledger.is_in_flight(2));
  EXPECT_TRUE(ledger.is_in_flight(3));
  EXPECT_FALSE(ledger.is_in_flight(5)) << "not posted yet";
}

TEST(SendLedger, AFullRingAlwaysHoldsASignalledRecord) {
  for (const std::uint32_t depth : {2U, 3U, 16U, 100U, kQueueDepth}) {
    SendLedger ledger(depth);
    for (int round = 0; round < 1000; ++round) {
      std::uint32_t newest_signalled = 0;
      bool any = false;
      while (ledger.has_room()) {
        const auto number = ledger.next();
        if (append(ledger, write_of(8), false).signalled) newest_signalled = number, any = true;
      }
      for (auto n = ledger.next() - ledger.outstanding(); n != ledger.next() && !any; ++n) {
        if (ledger.record(n).signalled) newest_signalled = n, any = true;
      }
      ASSERT_TRUE(any) << "depth " << depth << ", round " << round << ": nothing would come back";
      ledger.mark_posted(ledger.staged());
      ledger.retire_through(newest_signalled, kIgnore);
    }
  }
}

TEST(SendLedger, RunsOnWhenTheNumbersWrapAround) {
  SendLedger ledger;
  std::uint64_t finished = 0;
  // 2^32 is out of reach of a test; a multiple of the ring is what the arithmetic depends on.
  for (std::uint32_t i = 0; i < 100000; ++i) {
    if (!ledger.has_room()) {
      ledger.mark_posted(ledger.staged());
      finished += ledger.retire_through(ledger.next() - 100, kIgnore);
    }
    append(ledger, write_of(8), false);
  }
  EXPECT_EQ(finished + ledger.outstanding(), 100000U);
}

TEST(SendLedger, RetireAllFinishesWhatWasStagedToo) {
  SendLedger ledger;
  for (int i = 0; i < 5; ++i) append(ledger, read_of(8), false);
  ledger.mark_posted(3);
  int finished = 0;
  EXPECT_EQ(ledger.retire_all([&](const WorkRecord&) { ++finished; }), 5U);
  EXPECT_EQ(finished, 5);
  EXPECT_FALSE(ledger.reads_outstanding());
  EXPECT_TRUE(ledger.has_room());
}

TEST(SendLedger, WritesAreReadBackWhenAReadBehindThemIsAnswered) {
  SendLedger ledger;
  EXPECT_FALSE(ledger.has_unread_writes());
  append(ledger, write_of(0), false);
  EXPECT_FALSE(ledger.has_unread_writes()) << "no bytes, nothing to see";
  append(ledger, read_of(8), false);   // 1
  append(ledger, write_of(8), false);  // 2
  append(ledger, read_of(8), false);   // 3
  ledger.mark_posted(4);
  EXPECT_TRUE(ledger.has_unread_writes());
  ledger.retire_through(1, kIgnore);
  EXPECT_TRUE(ledger.has_unread_writes()) << "that read was before the write";
  ledger.retire_through(2, kIgnore);
  EXPECT_TRUE(ledger.has_unread_writes()) << "the write is acknowledged, no more";
  ledger.retire_through(3, kIgnore);
  EXPECT_FALSE(ledger.has_unread_writes());
}

TEST(SendLedger, CountsReadsAndAtomicsInFlight) {
  SendLedger ledger;
  append(ledger, write_of(8), false);
  EXPECT_FALSE(ledger.reads_outstanding());
  append(ledger, {.operation = Operation::fetch_add, .opcode = Opcode::fetch_add, .length = 8},
         false);
  EXPECT_TRUE(ledger.reads_outstanding());
  ledger.mark_posted(2);
  ledger.retire_through(1, kIgnore);
  EXPECT_FALSE(ledger.reads_outstanding());
}

// A message behind them need not wait for the other side's answer.
TEST(SendLedger, AtomicsWhoseOldValueGoesNowhereAreNoReads) {
  SendLedger ledger;
  append(ledger, {.opcode = Opcode::fetch_add, .holding = Holding::nothing}, true);
  EXPECT_FALSE(ledger.reads_outstanding());
  append(ledger, {.opcode = Opcode::fetch_add}, true);
  EXPECT_TRUE(ledger.reads_outstanding());
  ledger.mark_posted(2);
  ledger.retire_through(1, [](const WorkRecord&) {});
  EXPECT_FALSE(ledger.reads_outstanding());
}

}  // namespace
}  // namespace oriel::verbs
