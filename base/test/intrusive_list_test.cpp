// Tests of intrusive lists.
#include "base/intrusive_list.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace uet {
namespace {

struct ReadyTag;
struct Item : ListNode<>, ListNode<ReadyTag> {
  explicit Item(char its_name) : name(its_name) {}
  char name;
};
using List = IntrusiveList<Item>;
using ReadyList = IntrusiveList<Item, ReadyTag>;

template <class AnyList>
std::string picture(AnyList& list) {
  std::string names;
  for (const Item& item : list) names += item.name;
  return names;
}

class IntrusiveListTest : public testing::Test {
 protected:
  Item a_{'a'}, b_{'b'}, c_{'c'}, d_{'d'};
  List list_;
};

TEST_F(IntrusiveListTest, KeepsTheOrderOfPushes) {
  EXPECT_TRUE(list_.empty());
  EXPECT_EQ(list_.front(), nullptr);
  EXPECT_EQ(list_.back(), nullptr);
  list_.push_back(b_);
  list_.push_back(d_);
  list_.push_front(a_);
  list_.insert_before(d_, c_);
  EXPECT_EQ(picture(list_), "abcd");
  EXPECT_EQ(list_.front(), &a_);
  EXPECT_EQ(list_.back(), &d_);
  EXPECT_EQ(list_.next(b_), &c_);
  EXPECT_EQ(list_.next(d_), nullptr);
  EXPECT_EQ(list_.previous(c_), &b_);
  EXPECT_EQ(list_.previous(a_), nullptr);
}

TEST_F(IntrusiveListTest, ElementsReportWhetherTheyAreLinked) {
  EXPECT_FALSE(a_.ListNode<>::is_linked());
  list_.push_back(a_);
  EXPECT_TRUE(a_.ListNode<>::is_linked());
  EXPECT_EQ(list_.pop_front(), &a_);
  EXPECT_FALSE(a_.ListNode<>::is_linked());
  EXPECT_EQ(list_.pop_front(), nullptr);
  a_.ListNode<>::unlink();  // does nothing
}

TEST_F(IntrusiveListTest, ErasesFromAnyPlace) {
  for (Item* const item : {&a_, &b_, &c_, &d_}) list_.push_back(*item);
  List::erase(b_);
  EXPECT_EQ(picture(list_), "acd");
  List::erase(a_);
  EXPECT_EQ(picture(list_), "cd");
  List::erase(d_);
  EXPECT_EQ(picture(list_), "c");
  List::erase(c_);
  EXPECT_TRUE(list_.empty());
}

TEST_F(IntrusiveListTest, AnElementIsInOneListForEachTag) {
  ReadyList ready;
  list_.push_back(a_);
  list_.push_back(b_);
  ready.push_back(b_);
  ready.push_back(a_);
  EXPECT_EQ(picture(list_), "ab");
  EXPECT_EQ(picture(ready), "ba");
  List::erase(a_);
  EXPECT_EQ(picture(ready), "ba");
}

TEST_F(IntrusiveListTest, TheCurrentElementMayBeErasedInALoop) {
  List other;
  for (Item* const item : {&a_, &b_, &c_, &d_}) list_.push_back(*item);
  for (Item& item : list_) {
    if (item.name == 'a' || item.name == 'd') List::erase(item);
    if (item.name == 'b') {
      List::erase(item);
      other.push_back(item);
    }
  }
  EXPECT_EQ(picture(list_), "c");
  EXPECT_EQ(picture(other), "b");
}

TEST_F(IntrusiveListTest, SplicingMovesAllInOrder) {
  List other;
  list_.splice_back(other);
  EXPECT_TRUE(list_.empty());
  other.push_back(b_);
  other.push_back(c_);
  list_.push_back(a_);
  list_.splice_back(other);
  EXPECT_EQ(picture(list_), "abc");
  EXPECT_TRUE(other.empty());
  list_.splice_back(list_);
  EXPECT_EQ(picture(list_), "abc");
  other.splice_back(list_);
  EXPECT_EQ(picture(other), "abc");
  other.push_back(d_);
  List::erase(b_);
  EXPECT_EQ(picture(other), "acd");
}

TEST_F(IntrusiveListTest, ADestroyedElementLeavesItsList) {
  list_.push_back(a_);
  auto gone = std::make_unique<Item>('x');
  list_.push_back(*gone);
  list_.push_back(b_);
  gone.reset();
  EXPECT_EQ(picture(list_), "ab");
}

TEST_F(IntrusiveListTest, ADestroyedListUnlinksItsElements) {
  {
    List other;
    other.push_back(a_);
    other.push_back(b_);
  }
  EXPECT_FALSE(a_.ListNode<>::is_linked());
  list_.push_back(a_);
  EXPECT_EQ(picture(list_), "a");
}

using IntrusiveListDeathTest = IntrusiveListTest;
TEST_F(IntrusiveListDeathTest, AssertsOnDoubleInsertAndDoubleErase) {
  list_.push_back(a_);
  EXPECT_DEATH(list_.push_back(a_), "is_linked");
  List::erase(a_);
  EXPECT_DEATH(List::erase(a_), "is_linked");
}

}  // namespace
}  // namespace uet
