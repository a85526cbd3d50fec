// Lists that end while elements are in them, compiled with -O3, as a release is. Without may_alias
// g++ 12 makes an endless loop of their end.
#include "base/intrusive_list.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>

namespace uet::intrusive_list_o3 {
namespace {

struct Other {};  // tag

struct Element : ListNode<>, ListNode<Other> {
  IntrusiveList<Element> children;
  bool is_first = false;
};

struct Lists {
  void add(Element& e) { (e.is_first ? first : second).push_back(e); }
  IntrusiveList<Element> first;
  IntrusiveList<Element> second;
};

struct Owner {
  Lists lists;
  IntrusiveList<Element, Other> others;
};

bool is_linked(const Element& e) { return static_cast<const ListNode<>&>(e).is_linked(); }

[[gnu::noinline]] void fill(std::optional<Owner>& owner, std::array<Element, 4>& elements) {
  for (Element& e : elements) {
    if (!is_linked(e)) owner->lists.add(e);
  }
}

[[gnu::noinline]] void end_thrice(std::optional<Owner>& owner, std::array<Element, 4>& elements) {
  for (int i = 0; i < 3; ++i) {
    owner.emplace();
    fill(owner, elements);
  }
}

TEST(IntrusiveListO3Test, AListThatEndsUnlinksItsElements) {
  std::array<Element, 4> elements;
  elements[1].is_first = true;
  std::optional<Owner> owner;
  end_thrice(owner, elements);
  for (const Element& e : elements) EXPECT_TRUE(is_linked(e));
  owner.reset();
  for (const Element& e : elements) EXPECT_FALSE(is_linked(e));
}

}  // namespace
}  // namespace uet::intrusive_list_o3
