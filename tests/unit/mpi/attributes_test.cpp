#include <array>
#include <string>
#include <vector>

#include "objects_test.hpp"

namespace oriel::mpi {
namespace {

struct Deletion {
  MPI_Win window;
  int keyval;
  void* value;
  bool operator==(const Deletion&) const = default;
};

/// What callbacks saw; the extra state of the keyvals.
struct Record {
  std::vector<Deletion> deletions;
  int status = MPI_SUCCESS;
};

int record_deletion(MPI_Win window, int keyval, void* value, void* extra_state) {
  auto& record = *static_cast<Record*>(extra_state);
  record.deletions.push_back({window, keyval, value});
  return record.status;
}

int make_keyval(Record& record) {
  int keyval = MPI_KEYVAL_INVALID;
  EXPECT_EQ(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, record_deletion, &keyval, &record),
            MPI_SUCCESS);
  return keyval;
}

/// Null if it is not set.
void* get(const Win& window, int keyval) {
  void* value = nullptr;
  int is_set = 0;
  EXPECT_EQ(MPI_Win_get_attr(window.handle(), keyval, &value, &is_set), MPI_SUCCESS);
  return is_set != 0 ? value : nullptr;
}

class WindowAttributes : public ::testing::Test {
 protected:
  const std::unique_ptr<Win> window_ = make_window();
  Record record_;
  std::array<int, 4> things_{};
};

TEST_F(WindowAttributes, OfMpi) {
  EXPECT_EQ(get(*window_, MPI_WIN_BASE), window_->base);
  EXPECT_EQ(*static_cast<MPI_Aint*>(get(*window_, MPI_WIN_SIZE)), 64);
  EXPECT_EQ(*static_cast<int*>(get(*window_, MPI_WIN_DISP_UNIT)), 8);
  EXPECT_EQ(*static_cast<int*>(get(*window_, MPI_WIN_CREATE_FLAVOR)), MPI_WIN_FLAVOR_ALLOCATE);
  EXPECT_EQ(*static_cast<int*>(get(*window_, MPI_WIN_MODEL)), MPI_WIN_UNIFIED);
}

TEST_F(WindowAttributes, OfMpiAsFortranSeesThem) {
  MPI_Aint value = 0;
  EXPECT_TRUE(window_->attributes.get_fortran(*window_, MPI_WIN_BASE, &value));
  EXPECT_EQ(value, reinterpret_cast<MPI_Aint>(window_->base));
  EXPECT_TRUE(window_->attributes.get_fortran(*window_, MPI_WIN_DISP_UNIT, &value));
  EXPECT_EQ(value, 8);
}

TEST_F(WindowAttributes, AreSetReplacedAndDeleted) {
  int keyval = make_keyval(record_);
  EXPECT_EQ(get(*window_, keyval), nullptr);
  EXPECT_EQ(MPI_Win_set_attr(window_->handle(), keyval, &things_[0]), MPI_SUCCESS);
  EXPECT_EQ(get(*window_, keyval), &things_[0]);
  EXPECT_EQ(record_.deletions.size(), 0U);
  EXPECT_EQ(MPI_Win_set_attr(window_->handle(), keyval, &things_[1]), MPI_SUCCESS);
  EXPECT_EQ(get(*window_, keyval), &things_[1]);
  EXPECT_EQ(MPI_Win_delete_attr(window_->handle(), keyval), MPI_SUCCESS);
  EXPECT_EQ(get(*window_, keyval), nullptr);
  EXPECT_EQ(record_.deletions, (std::vector<Deletion>{{window_->handle(), keyval, &things_[0]},
                                                      {window_->handle(), keyval, &things_[1]}}));
  EXPECT_EQ(MPI_Win_delete_attr(window_->handle(), keyval), MPI_ERR_KEYVAL);
  EXPECT_EQ(MPI_Win_free_keyval(&keyval), MPI_SUCCESS);
  EXPECT_EQ(keyval, MPI_KEYVAL_INVALID);
}

TEST_F(WindowAttributes, AreSetToNullToo) {
  int keyval = make_keyval(record_);
  EXPECT_EQ(MPI_Win_set_attr(window_->handle(), keyval, nullptr), MPI_SUCCESS);
  void* value = &things_[0];
  int is_set = 0;
  EXPECT_EQ(MPI_Win_get_attr(window_->handle(), keyval, &value, &is_set), MPI_SUCCESS);
  EXPECT_EQ(is_set, 1);
  EXPECT_EQ(value, nullptr);
  EXPECT_EQ(MPI_Win_free_keyval(&keyval), MPI_SUCCESS);
}

TEST_F(WindowAttributes, NeedAKeyvalOfTheProgram) {
  void* value = nullptr;
  int is_set = 0;
  for (const int keyval : {MPI_KEYVAL_INVALID, static_cast<int>(MPI_TAG_UB), 4711})
    EXPECT_EQ(MPI_Win_get_attr(window_->handle(), keyval, &value, &is_set), MPI_ERR_KEYVAL);
  for (const int keyval : {MPI_KEYVAL_INVALID, static_cast<int>(MPI_WIN_BASE), 4711}) {
    EXPECT_EQ(MPI_Win_set_attr(window_->handle(), keyval, &things_[0]), MPI_ERR_KEYVAL);
    EXPECT_EQ(MPI_Win_delete_attr(window_->handle(), keyval), MPI_ERR_KEYVAL);
  }
}

TEST_F(WindowAttributes, EndTheLastSetFirst) {
  std::array<int, 3> keyvals{};
  for (int& keyval : keyvals) keyval = make_keyval(record_);
  for (const std::size_t at : {2U, 0U, 1U})
    MPI_Win_set_attr(window_->handle(), keyvals[at], &things_[at]);
  MPI_Win_set_attr(window_->handle(), keyvals[2], &things_[3]);  // now the last
  record_.deletions.clear();
  window_->attributes.clear(*window_);
  EXPECT_EQ(record_.deletions,
            (std::vector<Deletion>{{window_->handle(), keyvals[2], &things_[3]},
                                   {window_->handle(), keyvals[1], &things_[1]},
                                   {window_->handle(), keyvals[0], &things_[0]}}));
  for (int& keyval : keyvals) MPI_Win_free_keyval(&keyval);
}

TEST_F(WindowAttributes, StayWhenTheirCallbackFails) {
  int keyval = make_keyval(record_);
  MPI_Win_set_attr(window_->handle(), keyval, &things_[0]);
  record_.status = MPI_ERR_OTHER;
  EXPECT_EQ(MPI_Win_delete_attr(window_->handle(), keyval), MPI_ERR_OTHER);
  EXPECT_EQ(MPI_Win_set_attr(window_->handle(), keyval, &things_[1]), MPI_ERR_OTHER);
  EXPECT_THROW(window_->attributes.clear(*window_), Failure);
  EXPECT_EQ(get(*window_, keyval), &things_[0]);
  record_.status = MPI_SUCCESS;
  window_->attributes.clear(*window_);
  MPI_Win_free_keyval(&keyval);
}

TEST_F(WindowAttributes, OutliveTheirKeyval) {
  int keyval = make_keyval(record_);
  const int number = keyval;
  MPI_Win_set_attr(window_->handle(), keyval, &things_[0]);
  MPI_Win_free_keyval(&keyval);
  int other = make_keyval(record_);
  EXPECT_NE(other, number);
  EXPECT_EQ(get(*window_, number), &things_[0]);
  EXPECT_EQ(MPI_Win_set_attr(window_->handle(), number, &things_[1]), MPI_ERR_KEYVAL);
  window_->attributes.clear(*window_);
  EXPECT_EQ(record_.deletions, (std::vector<Deletion>{{window_->handle(), number, &things_[0]}}));
  MPI_Win_free_keyval(&other);
}

int keyval_to_set = MPI_KEYVAL_INVALID;

int set_another(MPI_Win window, int /*keyval*/, void* value, void* /*extra_state*/) {
  return MPI_Win_set_attr(window, keyval_to_set, value);
}

TEST_F(WindowAttributes, MayBeSetByCallbacks) {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, set_another, &keyval, nullptr);
  keyval_to_set = make_keyval(record_);
  MPI_Win_set_attr(window_->handle(), keyval, &things_[0]);
  window_->attributes.clear(*window_);
  EXPECT_EQ(record_.deletions,
            (std::vector<Deletion>{{window_->handle(), keyval_to_set, &things_[0]}}));
  MPI_Win_free_keyval(&keyval);
  MPI_Win_free_keyval(&keyval_to_set);
}

TEST_F(WindowAttributes, WithoutADeleteCallback) {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, nullptr);
  MPI_Win_set_attr(window_->handle(), keyval, &things_[0]);
  EXPECT_EQ(MPI_Win_delete_attr(window_->handle(), keyval), MPI_SUCCESS);
  MPI_Win_free_keyval(&keyval);
}

// MPI-3.1, 17.2.7.
TEST_F(WindowAttributes, CSeesWhereFortransIntegerIs) {
  int keyval = make_keyval(record_);
  window_->attributes.set_fortran(*window_, keyval, 1234567890123);
  EXPECT_EQ(*static_cast<MPI_Aint*>(get(*window_, keyval)), 1234567890123);
  MPI_Aint value = 0;
  EXPECT_TRUE(window_->attributes.get_fortran(*window_, keyval, &value));
  EXPECT_EQ(value, 1234567890123);
  window_->attributes.clear(*window_);
  MPI_Win_free_keyval(&keyval);
}

TEST_F(WindowAttributes, FortranSeesCsPointer) {
  int keyval = make_keyval(record_);
  MPI_Win_set_attr(window_->handle(), keyval, &things_[2]);
  MPI_Aint value = 0;
  EXPECT_TRUE(window_->attributes.get_fortran(*window_, keyval, &value));
  EXPECT_EQ(value, reinterpret_cast<MPI_Aint>(&things_[2]));
  window_->attributes.clear(*window_);
  EXPECT_FALSE(window_->attributes.get_fortran(*window_, keyval, &value));
  MPI_Win_free_keyval(&keyval);
}

struct FortranDeletion {
  MPI_Fint window = 0;
  MPI_Fint keyval = 0;
  MPI_Aint value = 0;
  MPI_Aint extra_state = 0;
};
FortranDeletion fortran_deletion;
MPI_Fint fortran_status = MPI_SUCCESS;

void fortran_delete(MPI_Fint* window, MPI_Fint* keyval, MPI_Aint* value, MPI_Aint* extra_state,
                    MPI_Fint* error) {
  fortran_deletion = {*window, *keyval, *value, *extra_state};
  *error = fortran_status;
}

TEST_F(WindowAttributes, KeyvalsOfFortran) {
  int keyval = MPI_KEYVAL_INVALID;
  PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, nullptr);
  register_fortran_keyval(keyval, fortran_delete, 77);
  window_->attributes.set_fortran(*window_, keyval, -5);
  fortran_status = MPI_ERR_OTHER;
  EXPECT_EQ(MPI_Win_delete_attr(window_->handle(), keyval), MPI_ERR_OTHER);
  fortran_status = MPI_SUCCESS;
  EXPECT_EQ(MPI_Win_delete_attr(window_->handle(), keyval), MPI_SUCCESS);
  EXPECT_EQ(fortran_deletion.window, window_->fortran());
  EXPECT_EQ(fortran_deletion.keyval, keyval);
  EXPECT_EQ(fortran_deletion.value, -5);
  EXPECT_EQ(fortran_deletion.extra_state, 77);
  MPI_Win_set_attr(window_->handle(), keyval, &things_[0]);
  window_->attributes.clear(*window_);
  EXPECT_EQ(fortran_deletion.value, reinterpret_cast<MPI_Aint>(&things_[0]));
  EXPECT_EQ(MPI_Win_free_keyval(&keyval), MPI_SUCCESS);
}

TEST_F(WindowAttributes, OfNativeWindowsStayMpis) {
  MPI_Win native = MPI_WIN_NULL;
  PMPI_Win_create(nullptr, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &native);
  int keyval = make_keyval(record_);
  EXPECT_EQ(MPI_Win_set_attr(native, keyval, &things_[0]), MPI_SUCCESS);
  MPI_Win_set_attr(window_->handle(), keyval, &things_[1]);
  void* value = nullptr;
  int is_set = 0;
  EXPECT_EQ(MPI_Win_get_attr(native, keyval, &value, &is_set), MPI_SUCCESS);
  EXPECT_EQ(value, &things_[0]);
  EXPECT_EQ(get(*window_, keyval), &things_[1]);
  MPI_Win_free_keyval(&keyval);
  PMPI_Win_free(&native);
  EXPECT_EQ(record_.deletions.size(), 1U);
  window_->attributes.clear(*window_);
  EXPECT_EQ(record_.deletions.size(), 2U);
}

}  // namespace
}  // namespace oriel::mpi
