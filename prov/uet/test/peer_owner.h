// Another provider that owns a completion queue and receives, and a node of uet that imports them,
// for tests. Knows the peer interface of libfabric and nothing of the provider's inside. A thread
// may start and discard messages while another one runs or closes the node.
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/test/node.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <vector>

namespace uet::prov::test {

struct AskedOfOwner {
  uint32_t asked = 0;        // get_msg and get_tag
  uint32_t out_of_turn = 0;  // calls of any operation outside of PeerNode's run() and closes
  uint32_t named = 0;        // senders that got a name after they were queued
  uint64_t counted = 0;
  uint64_t counted_errors = 0;
};

struct WaysOfOwner {
  int refuses_to_get = 0;                    // -FI_E*: get_* answers that
  int refuses_to_queue = 0;                  // the same of queue_*
  int refuses_to_write = 0;                  // the same of write and writeerr
  uint64_t entry_flags = 0;                  // of receives that are posted, beside their kind
  std::function<void()> calls_back = [] {};  // in each operation, without locks
};

class PeerOwner {
 public:
  PeerOwner();
  PeerOwner(const PeerOwner&) = delete;
  PeerOwner& operator=(const PeerOwner&) = delete;

  // The user's receive: takes the first queued message that matches, or the next one that comes.
  // The octets are the context. FI_ADDR_UNSPEC: from any sender.
  std::vector<uint8_t>& post(size_t bytes, fi_addr_t from = FI_ADDR_UNSPEC);
  std::vector<uint8_t>& tpost(size_t bytes, uint64_t tag, uint64_t ignore = 0);
  // Into pieces of the octets.
  std::vector<uint8_t>& post_pieces(size_t bytes, size_t pieces);
  // Throws the oldest queued message away, as FI_DISCARD does.
  int discard_oldest() { return discard(take_oldest()); }
  // Removes the oldest queued message and returns its entry. The test may pass the entry to
  // discard() or start() at any time, also after free_entry: its memory lives as long as this.
  fi_peer_rx_entry* take_oldest();
  // These call uet's operations, discard_* and start_*, and return what those return.
  int discard(fi_peer_rx_entry* entry);
  int start(fi_peer_rx_entry* entry, std::vector<uint8_t>& room);
  // Actions before and after its calls of uet.
  void give(fi_peer_rx_entry& entry, std::vector<uint8_t>& room, size_t pieces = 1);
  void drop(fi_peer_rx_entry* discarded);

  std::deque<Done> done;  // completions
  AskedOfOwner seen;
  WaysOfOwner ways;
  bool in_turn = false;

  size_t queued() const { return queue_.size(); }
  // Entries that it gave away, queued or has posted, and that are not free.
  size_t open_entries() const { return entries_.size(); }
  fi_addr_t oldest_sender() const { return queue_.front()->addr; }
  uint64_t oldest_flags() const { return queue_.front()->flags; }
  uint64_t oldest_data() const;

  fid_peer_cq cq{};
  fid_peer_srx srx{};
#if UET_HAVE_PEER_CNTR
  fid_peer_cntr cntr{};
#endif

 private:
  struct Entry {
    fi_peer_rx_entry entry{};
    std::vector<iovec> iov;
    uint64_t ignore = 0;
    bool tagged = false;
  };

  struct Operations {
    fi_ops_cq_owner cq{};
    fi_ops_srx_owner srx{};
#if UET_HAVE_PEER_CNTR
    fi_ops_cntr_owner cntr{};
#endif
  };

  static PeerOwner& of(fid_peer_srx* fid) {
    return *static_cast<PeerOwner*>(fid->ep_fid.fid.context);
  }
  void be_called();
  Entry& add(bool tagged, fi_addr_t from, uint64_t tag);
  std::vector<uint8_t>& post(Entry& posted, size_t bytes, size_t pieces);
  static std::vector<uint8_t>* room_of(const Entry& entry);
  int get(bool tagged, fi_addr_t from, uint64_t tag, fi_peer_rx_entry** out);
  int queue(fi_peer_rx_entry* entry);
  void free(fi_peer_rx_entry* entry);
  static bool fits(const Entry& posted, bool tagged, fi_addr_t from, uint64_t tag);

  static ssize_t write_op(fid_peer_cq* fid, void* context, uint64_t flags, size_t len, void* buf,
                          uint64_t data, uint64_t tag, fi_addr_t src);
  static ssize_t writeerr_op(fid_peer_cq* fid, const fi_cq_err_entry* error);

  Operations ops_;
  std::mutex lock_;  // of the entries; not held while uet is called
  std::list<Entry> entries_;
  std::list<Entry> freed_;
  std::deque<Entry*> posted_;
  std::deque<fi_peer_rx_entry*> queue_;
  std::deque<std::vector<uint8_t>> rooms_;
};

// A node with the completions and receives of `owner`, as a linking provider opens it.
class PeerNode {
 public:
  explicit PeerNode(PeerOwner& owner, uint64_t binding = 0, bool counts = false);
  ~PeerNode();
  PeerNode(const PeerNode&) = delete;
  PeerNode& operator=(const PeerNode&) = delete;

  void run();  // the owner's turn
  std::vector<uint8_t> name() const;
  // Under a name of the owner's; what operations call it.
  fi_addr_t insert(const std::vector<uint8_t>& address, fi_addr_t user_id);
  void close_endpoint();
  void close_srx();
  void close_queues();  // completion queue and counter

  PeerOwner& owner;
  fi_info* info = nullptr;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  fid_av* av = nullptr;
  fid_cq* cq = nullptr;
  fid_cntr* cntr = nullptr;
  fid_ep* srx = nullptr;
  fid_ep* ep = nullptr;
};

// Hints of such a node for fi_getinfo.
fi_info* peer_hints();

}  // namespace uet::prov::test
