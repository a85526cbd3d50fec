// Doubly linked lists whose links live in the elements: no allocation, O(1) removal by element.
// An element can be in one list per tag it derives from. Elements know whether they are linked,
// and unlink themselves when they are destroyed.
#pragma once

#include "base/assert.h"

namespace uet {

template <class T, class Tag>
class IntrusiveList;

// To be put in an IntrusiveList<T, Tag>, T derives from ListNode<Tag>. Not copyable: a copy would
// have to be in the same place of the same list.
// may_alias: where elements have lists of such elements, g++ 12 with -O3 assumes that a write to
// the node of an element never changes the node of the list's head, and keeps old links in
// registers.
template <class Tag = void>
class [[gnu::may_alias]] ListNode {
 public:
  ListNode() = default;
  ~ListNode() { unlink(); }
  ListNode(const ListNode&) = delete;
  ListNode& operator=(const ListNode&) = delete;

  bool is_linked() const { return next_ != nullptr; }

  // Leaves whatever list it is in; nothing happens when it is in none.
  void unlink() {
    if (next_ == nullptr) return;
    prev_->next_ = next_;
    next_->prev_ = prev_;
    prev_ = next_ = nullptr;
  }

 private:
  template <class T, class ListTag>
  friend class IntrusiveList;

  ListNode* prev_ = nullptr;
  ListNode* next_ = nullptr;
};

// The list does not own its elements; its destructor unlinks them. It must not move while in use.
template <class T, class Tag = void>
class IntrusiveList {
  using Node = ListNode<Tag>;

 public:
  // Steps ahead before it shows an element, so the current element (only that one) may be erased,
  // destroyed or moved to another list inside a range-for.
  class Iterator {
   public:
    explicit Iterator(Node* at) : at_(at), next_(at->next_) {}
    T& operator*() const { return *static_cast<T*>(at_); }
    Iterator& operator++() {
      at_ = next_;
      next_ = at_->next_;
      return *this;
    }
    bool operator==(const Iterator& o) const { return at_ == o.at_; }

   private:
    Node* at_;
    Node* next_;
  };

  IntrusiveList() { head_.prev_ = head_.next_ = &head_; }
  ~IntrusiveList() { clear(); }
  IntrusiveList(const IntrusiveList&) = delete;
  IntrusiveList& operator=(const IntrusiveList&) = delete;

  bool empty() const { return head_.next_ == &head_; }

  // Each asserts that the element is in no list of this tag.
  void push_back(T& element) { insert(element, head_); }
  void push_front(T& element) { insert(element, *head_.next_); }
  // `element` comes to stand before `other`, which is in this list.
  void insert_before(T& other, T& element) { insert(element, static_cast<Node&>(other)); }

  // Asserts that the element is in a list.
  static void erase(T& element) {
    Node& node = element;
    UET_ASSERT(node.is_linked());
    node.unlink();
  }

  // The first or last element; null when the list is empty.
  T* front() const { return empty() ? nullptr : static_cast<T*>(head_.next_); }
  T* back() const { return empty() ? nullptr : static_cast<T*>(head_.prev_); }
  // The element before this one; null before the first.
  T* previous(const T& element) const {
    Node* const node = static_cast<const Node&>(element).prev_;
    return node == &head_ ? nullptr : static_cast<T*>(node);
  }
  // The element after this one; null after the last.
  T* next(const T& element) const {
    Node* const node = static_cast<const Node&>(element).next_;
    return node == &head_ ? nullptr : static_cast<T*>(node);
  }

  // Removes and returns the first element; null when the list is empty.
  T* pop_front() {
    T* const element = front();
    if (element != nullptr) static_cast<Node*>(element)->unlink();
    return element;
  }

  // Moves all elements of `other` to our end, in their order. O(1).
  void splice_back(IntrusiveList& other) {
    if (other.empty() || &other == this) return;
    Node* const first = other.head_.next_;
    Node* const last = other.head_.prev_;
    other.head_.prev_ = other.head_.next_ = &other.head_;
    first->prev_ = head_.prev_;
    head_.prev_->next_ = first;
    last->next_ = &head_;
    head_.prev_ = last;
  }

  // Unlinks every element. O(size).
  void clear() {
    while (pop_front() != nullptr) {
    }
  }

  Iterator begin() { return Iterator(head_.next_); }
  Iterator end() { return Iterator(&head_); }

 private:
  static void insert(T& element, Node& before) {
    Node& node = element;
    UET_ASSERT(!node.is_linked() && before.is_linked());
    node.prev_ = before.prev_;
    node.next_ = &before;
    before.prev_->next_ = &node;
    before.prev_ = &node;
  }

  mutable Node head_;
};

}  // namespace uet
