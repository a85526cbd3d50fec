// Tagged messages between two processes over libfabric's lnx, which links shm and uet. With
// FI_LNX_DISABLE_SHM=1 all of them go over uet. [LF-159, LF-160, fi_lnx]
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

namespace uet::prov::test {
namespace {

// One of the two processes.
class Side {
 public:
  explicit Side(int to_other) : socket_(to_other) {}
  ~Side();
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  // Any failure fails the test.
  void open();
  void send(size_t bytes, uint64_t tag);
  // `early`: the message is there before the receive.
  void receive(size_t bytes, uint64_t tag, bool early);
  // Waits until the other process has come here, too.
  void meet();

 private:
  void exchange_names();
  void look();
  template <class Done>
  void run_until(Done done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << "nothing came";
      look();
    }
  }

  int socket_;
  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* av_ = nullptr;
  fid_cq* cq_ = nullptr;
  fid_ep* ep_ = nullptr;
  fi_addr_t other_ = FI_ADDR_UNSPEC;
  std::vector<fi_cq_tagged_entry> received_;
  size_t sent_ = 0;
};

void Side::open() {
  fi_info* const hints = fi_allocinfo();
  hints->caps = FI_TAGGED;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  hints->fabric_attr->prov_name = strdup("lnx");
  const int rc = fi_getinfo(FI_VERSION(1, 20), nullptr, nullptr, 0, hints, &info_);
  fi_freeinfo(hints);
  ASSERT_EQ(rc, 0) << fi_strerror(-rc) << "; is FI_LNX_PROV_LINKS set?";
  ASSERT_NE(std::strstr(info_->domain_attr->name, "lo"), nullptr) << info_->domain_attr->name;
  ASSERT_EQ(fi_fabric(info_->fabric_attr, &fabric_, nullptr), 0);
  ASSERT_EQ(fi_domain(fabric_, info_, &domain_, nullptr), 0);
  fi_av_attr av_attr{};
  av_attr.type = FI_AV_TABLE;
  ASSERT_EQ(fi_av_open(domain_, &av_attr, &av_, nullptr), 0);
  fi_cq_attr cq_attr{};
  cq_attr.format = FI_CQ_FORMAT_TAGGED;
  ASSERT_EQ(fi_cq_open(domain_, &cq_attr, &cq_, nullptr), 0);
  ASSERT_EQ(fi_endpoint(domain_, info_, &ep_, nullptr), 0);
  ASSERT_EQ(fi_ep_bind(ep_, &cq_->fid, FI_TRANSMIT | FI_RECV), 0);
  ASSERT_EQ(fi_ep_bind(ep_, &av_->fid, 0), 0);
  ASSERT_EQ(fi_enable(ep_), 0);
  exchange_names();
}

void Side::exchange_names() {
  std::vector<uint8_t> name(4096);
  size_t length = name.size();
  ASSERT_EQ(fi_getname(&ep_->fid, name.data(), &length), 0);
  ASSERT_EQ(write(socket_, name.data(), name.size()), static_cast<ssize_t>(name.size()));
  ASSERT_EQ(recv(socket_, name.data(), name.size(), MSG_WAITALL),
            static_cast<ssize_t>(name.size()));
  ASSERT_EQ(fi_av_insert(av_, name.data(), 1, &other_, 0, nullptr), 1);
}

Side::~Side() {
  fid* const objects[] = {
      ep_ != nullptr ? &ep_->fid : nullptr, cq_ != nullptr ? &cq_->fid : nullptr,
      av_ != nullptr ? &av_->fid : nullptr, domain_ != nullptr ? &domain_->fid : nullptr,
      fabric_ != nullptr ? &fabric_->fid : nullptr};
  for (fid* const object : objects) {
    if (object != nullptr) {
      EXPECT_EQ(fi_close(object), 0);
    }
  }
  fi_freeinfo(info_);
}

void Side::look() {
  fi_cq_tagged_entry entry{};
  const ssize_t got = fi_cq_read(cq_, &entry, 1);
  if (got == -FI_EAGAIN) return;
  ASSERT_EQ(got, 1);
  if ((entry.flags & FI_RECV) != 0) received_.push_back(entry);
  if ((entry.flags & FI_SEND) != 0) ++sent_;
}

void Side::meet() {
  char octet = 0;
  ASSERT_EQ(write(socket_, &octet, 1), 1);
  run_until([&] { return recv(socket_, &octet, 1, MSG_DONTWAIT) == 1; });
}

void Side::send(size_t bytes, uint64_t tag) {
  const std::vector<uint8_t> data(bytes, static_cast<uint8_t>(tag));
  fi_context2 context{};
  ssize_t posted = -FI_EAGAIN;  // shm connects first
  run_until([&] {
    posted = fi_tsend(ep_, data.data(), bytes, nullptr, other_, tag, &context);
    return posted != -FI_EAGAIN;
  });
  ASSERT_EQ(posted, 0);
  run_until([&] { return sent_ != 0; });
  sent_ = 0;
}

void Side::receive(size_t bytes, uint64_t tag, bool early) {
  if (early) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    while (std::chrono::steady_clock::now() < end) look();
    ASSERT_TRUE(received_.empty());
  }
  std::vector<uint8_t> room(bytes + 10);
  fi_context2 context{};
  ASSERT_EQ(fi_trecv(ep_, room.data(), room.size(), nullptr, FI_ADDR_UNSPEC, tag, 0, &context), 0);
  run_until([&] { return !received_.empty(); });
  ASSERT_EQ(received_.size(), 1u);
  EXPECT_EQ(received_.front().op_context, &context);
  EXPECT_EQ(received_.front().len, bytes);
  EXPECT_EQ(received_.front().tag, tag);
  room.resize(bytes);
  EXPECT_EQ(room, std::vector<uint8_t>(bytes, static_cast<uint8_t>(tag)));
  received_.clear();
}

void converse(bool first, int socket) {
  Side side(socket);
  side.open();
  uint64_t tag = 0;
  for (const bool early : {false, true}) {
    for (const size_t bytes : {size_t{0}, size_t{8}, size_t{5000}, size_t{1'000'000}}) {
      for (const bool is_mine : {first, !first}) {
        ++tag;
        if (testing::Test::HasFailure()) return;
        is_mine ? side.send(bytes, tag) : side.receive(bytes, tag, early);
      }
    }
  }
  side.meet();
}

TEST(LnxTest, MessagesArriveBeforeAndAfterTheirReceives) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close(sockets[0]);
    converse(false, sockets[1]);
    _exit(HasFailure() ? 1 : 0);
  }
  close(sockets[1]);
  converse(true, sockets[0]);
  close(sockets[0]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace uet::prov::test
