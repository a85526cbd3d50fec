// Completion queues through the libfabric API: formats, order, errors, room, sources.
#include "prov/uet/api/compat.h"
#include "prov/uet/test/node.h"

#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace uet::prov::test {
namespace {

class CqTest : public PairTest {
 protected:
  void post_pair(void* context) {
    ASSERT_EQ(fi_trecv(b->ep, &got_, 1, nullptr, FI_ADDR_UNSPEC, 0x77, 0, context), 0);
    ASSERT_EQ(fi_tsenddata(a->ep, &sent_, 1, nullptr, 0xDA7A, to_b, 0x77, context), 0);
  }
  uint8_t sent_ = 1;
  uint8_t got_ = 0;
};

// [LF-093] Each format writes its own entry size and nothing behind it.
TEST_F(CqTest, EveryFormatWritesItsOwnEntry) {
  struct Format {
    fi_cq_format format;
    size_t bytes;
  };
  for (const Format& f : {Format{FI_CQ_FORMAT_DATA, sizeof(fi_cq_data_entry)},
                          Format{FI_CQ_FORMAT_TAGGED, sizeof(fi_cq_tagged_entry)}}) {
    NodeOptions options;
    options.format = f.format;
    open(options, options);
    post_pair(this);
    uint8_t raw[sizeof(fi_cq_tagged_entry) + 8];
    std::memset(raw, 0xEE, sizeof(raw));
    ssize_t got = -FI_EAGAIN;
    ASSERT_TRUE(run_until([&] { return (got = fi_cq_read(b->rx_cq, raw, 1)) != -FI_EAGAIN; }));
    ASSERT_EQ(got, 1);
    fi_cq_tagged_entry entry{};
    std::memcpy(&entry, raw, f.bytes);
    EXPECT_EQ(entry.op_context, this);
    EXPECT_EQ(entry.flags, uint64_t{FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA});
    EXPECT_EQ(entry.len, 1u);
    EXPECT_EQ(entry.data, 0xDA7Au);
    if (f.format == FI_CQ_FORMAT_TAGGED) {
      EXPECT_EQ(entry.tag, 0x77u);
    }
    for (size_t i = f.bytes; i < sizeof(raw); ++i) ASSERT_EQ(raw[i], 0xEE) << i;
    TearDown();
  }
}

TEST_F(CqTest, NarrowFormatsWriteContextAndLength) {
  for (const fi_cq_format format : {FI_CQ_FORMAT_CONTEXT, FI_CQ_FORMAT_MSG}) {
    NodeOptions options;
    options.format = format;
    open(options, options);
    ASSERT_EQ(fi_recv(b->ep, &got_, 1, nullptr, FI_ADDR_UNSPEC, this), 0);
    ASSERT_EQ(fi_send(a->ep, &sent_, 1, nullptr, to_b, nullptr), 0);
    fi_cq_msg_entry entry[2] = {};
    entry[0].flags = 0xEE;
    ssize_t got = -FI_EAGAIN;
    ASSERT_TRUE(run_until([&] { return (got = fi_cq_read(b->rx_cq, entry, 1)) != -FI_EAGAIN; }));
    ASSERT_EQ(got, 1);
    EXPECT_EQ(entry[0].op_context, this);
    if (format == FI_CQ_FORMAT_MSG) {
      EXPECT_EQ(entry[0].flags, uint64_t{FI_RECV | FI_MSG});
      EXPECT_EQ(entry[0].len, 1u);
    } else {
      EXPECT_EQ(entry[0].flags, 0xEEu);
    }
    EXPECT_EQ(entry[1].op_context, nullptr);
    TearDown();
  }
}

// [LF-093] A CQ that cannot show header data shows the rest of the message, or of the write.
TEST_F(CqTest, DataThatACqCannotShowIsLeftOut) {
  for (const fi_cq_format format : {FI_CQ_FORMAT_CONTEXT, FI_CQ_FORMAT_MSG}) {
    NodeOptions narrow;
    narrow.format = format;
    NodeOptions acknowledged;  // a send is not over before the peer has it
    acknowledged.tx_op_flags = FI_TRANSMIT_COMPLETE;
    open(acknowledged, narrow);
    got_ = 0;
    ASSERT_EQ(fi_recv(b->ep, &got_, 1, nullptr, FI_ADDR_UNSPEC, this), 0);
    ASSERT_EQ(fi_senddata(a->ep, &sent_, 1, nullptr, 5, to_b, this), 0);
    EXPECT_EQ(next(a->tx_cq).err, 0);
    fi_cq_msg_entry entry{};
    ASSERT_TRUE(run_until([&] { return fi_cq_read(b->rx_cq, &entry, 1) == 1; }));
    EXPECT_EQ(entry.op_context, this);
    EXPECT_EQ(got_, sent_);
    if (format == FI_CQ_FORMAT_MSG) {
      EXPECT_EQ(entry.len, 1u);
    }

    got_ = 0;
    fid_mr* const region = b->registered(&got_, 1, FI_REMOTE_WRITE, 3);
    ASSERT_EQ(fi_writedata(a->ep, &sent_, 1, nullptr, 5, to_b, 0, fi_mr_key(region), this), 0);
    EXPECT_EQ(next(a->tx_cq).err, 0);
    ASSERT_TRUE(run_until([&] { return fi_cq_read(b->rx_cq, &entry, 1) == 1; }));
    EXPECT_EQ(entry.op_context, nullptr);
    EXPECT_EQ(got_, sent_);
    EXPECT_EQ(fi_close(&region->fid), 0);
    TearDown();
  }
}

// [LF-093] An endpoint that only counts what it receives takes messages with header data, too.
TEST_F(CqTest, DataForAnEndpointWithoutACqIsLeftOut) {
  NodeOptions acknowledged;
  acknowledged.tx_op_flags = FI_TRANSMIT_COMPLETE;
  open(acknowledged);
  fi_cntr_attr attr{};
  fid_cntr* received = nullptr;
  fid_ep* counting = nullptr;
  ASSERT_EQ(fi_cntr_open(b->domain, &attr, &received, nullptr), 0);
  ASSERT_EQ(fi_endpoint(b->domain, b->info, &counting, nullptr), 0);
  ASSERT_EQ(fi_ep_bind(counting, &b->tx_cq->fid, FI_TRANSMIT), 0);
  ASSERT_EQ(fi_ep_bind(counting, &received->fid, FI_RECV), 0);
  ASSERT_EQ(fi_ep_bind(counting, &b->av->fid, 0), 0);
  ASSERT_EQ(fi_enable(counting), 0);
  std::vector<uint8_t> name(64);
  size_t bytes = name.size();
  ASSERT_EQ(fi_getname(&counting->fid, name.data(), &bytes), 0);
  name.resize(bytes);
  const fi_addr_t there = a->insert(name);
  ASSERT_EQ(fi_recv(counting, &got_, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  ASSERT_EQ(fi_senddata(a->ep, &sent_, 1, nullptr, 5, there, this), 0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_EQ(fi_cntr_read(received), 1u);
  EXPECT_EQ(got_, sent_);
  EXPECT_EQ(fi_close(&counting->fid), 0);
  EXPECT_EQ(fi_close(&received->fid), 0);
}

// [LF-095] Good entries before an error come first; the error stops the read; later entries wait.
TEST_F(CqTest, ErrorsKeepTheirPlaceInTheOrder) {
  NodeOptions acknowledged;  // a send is not over before the peer has it
  acknowledged.tx_op_flags = FI_TRANSMIT_COMPLETE;
  open(acknowledged);
  std::vector<uint8_t>& buffers = kept(std::vector<uint8_t>(4));
  for (uint64_t tag = 0; tag < buffers.size(); ++tag) {
    ASSERT_EQ(fi_trecv(b->ep, &buffers[tag], 1, nullptr, FI_ADDR_UNSPEC, tag, 0, &buffers[tag]), 0);
  }
  // Order on the receiver's CQ: message 0, cancelled 1, message 2. Read only at the end.
  const auto counted = [&](uint64_t tag) {
    ASSERT_EQ(fi_tsend(a->ep, &sent_, 1, nullptr, to_b, tag, nullptr), 0);
    ASSERT_EQ(next(a->tx_cq).err, 0);
  };
  counted(0);
  ASSERT_EQ(fi_cancel(&b->ep->fid, &buffers[1]), 0);
  counted(2);
  fi_cq_tagged_entry entries[4];
  fi_cq_err_entry error{};
  EXPECT_EQ(fi_cq_readerr(b->rx_cq, &error, 0), -FI_EAGAIN) << "the head is a good entry";
  ASSERT_EQ(fi_cq_read(b->rx_cq, entries, 4), 1);
  EXPECT_EQ(entries[0].op_context, &buffers[0]);
  ASSERT_EQ(fi_cq_read(b->rx_cq, entries, 4), -FI_EAVAIL);
  ASSERT_EQ(fi_cq_read(b->rx_cq, entries, 4), -FI_EAVAIL) << "it stays until it is read";
  ASSERT_EQ(fi_cq_readerr(b->rx_cq, &error, 0), 1);
  EXPECT_EQ(error.err, FI_ECANCELED);
  EXPECT_EQ(error.op_context, &buffers[1]);
  ASSERT_EQ(fi_cq_read(b->rx_cq, entries, 4), 1);
  EXPECT_EQ(entries[0].op_context, &buffers[2]);
  EXPECT_EQ(fi_cq_read(b->rx_cq, entries, 4), -FI_EAGAIN);
  EXPECT_EQ(fi_cq_readerr(b->rx_cq, &error, 0), -FI_EAGAIN);
}

// [LF-016] The source is the index of the sender's entry, or not available.
TEST_F(CqTest, SourceIsTheSendersEntryOrNotAvailable) {
  open();
  Node stranger;
  const fi_addr_t stranger_to_b = stranger.insert(b->name());
  uint8_t second = 0;
  ASSERT_EQ(fi_recv(b->ep, &got_, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  ASSERT_EQ(fi_send(a->ep, &sent_, 1, nullptr, to_b, nullptr), 0);
  EXPECT_EQ(next(b->rx_cq).from, to_a);
  ASSERT_EQ(fi_recv(b->ep, &second, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  ASSERT_EQ(fi_send(stranger.ep, &sent_, 1, nullptr, stranger_to_b, nullptr), 0);
  const Done done = next(b->rx_cq);
  EXPECT_EQ(done.err, 0);
  EXPECT_EQ(done.from, FI_ADDR_NOTAVAIL);
}

// [LF-015, LF-016] Of several entries for one sender the oldest that is left is the source.
TEST_F(CqTest, SourceIsTheOldestEntryOfTheSender) {
  open();
  const fi_addr_t second = b->insert(a->name());
  fi_addr_t removed = b->insert(a->name());
  fi_addr_t first = to_a;
  for (const fi_addr_t expected : {first, second}) {
    ASSERT_EQ(fi_recv(b->ep, &got_, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_send(a->ep, &sent_, 1, nullptr, to_b, nullptr), 0);
    EXPECT_EQ(next(b->rx_cq).from, expected);
    if (expected == first) {
      EXPECT_EQ(fi_av_remove(b->av, &removed, 1, 0), 0);
      EXPECT_EQ(fi_av_remove(b->av, &first, 1, 0), 0);
      EXPECT_EQ(b->insert(a->name()), first);  // its place, and now the newest
    }
  }
}

// [LF-016] With FI_SOURCE_ERR an unknown sender's message is an error entry that carries its
// address, all that a reply needs.
TEST_F(CqTest, UnknownSourceIsAnErrorWhenAskedFor) {
  NodeOptions options;
  options.caps |= FI_SOURCE_ERR;
  open({}, options);
  Node stranger;
  const fi_addr_t stranger_to_b = stranger.insert(b->name());
  ASSERT_EQ(fi_recv(b->ep, &got_, 1, nullptr, FI_ADDR_UNSPEC, this), 0);
  ASSERT_EQ(fi_send(stranger.ep, &sent_, 1, nullptr, stranger_to_b, nullptr), 0);
  fi_cq_tagged_entry entry{};
  ssize_t got = -FI_EAGAIN;
  ASSERT_TRUE(run_until([&] { return (got = fi_cq_read(b->rx_cq, &entry, 1)) != -FI_EAGAIN; }));
  ASSERT_EQ(got, -FI_EAVAIL);
  fi_cq_err_entry error{};
  ASSERT_EQ(fi_cq_readerr(b->rx_cq, &error, 0), 1);
  EXPECT_EQ(error.err, FI_EADDRNOTAVAIL);
  EXPECT_EQ(error.op_context, this);
  EXPECT_EQ(error.len, 1u);
  EXPECT_EQ(got_, 1) << "the message itself is good";
  ASSERT_EQ(error.err_data_size, 40u);
  const std::vector<uint8_t> name = stranger.name();
  const auto* told = static_cast<const uint8_t*>(error.err_data);
  EXPECT_EQ(std::memcmp(told + 6, name.data() + 6, 26), 0)
      << "PIDonFEP, resource index, initiator ID and Fabric Address";
  EXPECT_EQ(std::memcmp(told + 36, name.data() + 36, 2), 0) << "port";
  fi_addr_t added = FI_ADDR_NOTAVAIL;
  ASSERT_EQ(fi_av_insert(b->av, error.err_data, 1, &added, 0, nullptr), 1);
  uint8_t answer = 77;
  uint8_t answered = 0;
  ASSERT_EQ(fi_recv(stranger.ep, &answered, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  ASSERT_EQ(fi_send(b->ep, &answer, 1, nullptr, added, nullptr), 0);
  Done done;
  ASSERT_TRUE(run_until([&] { return read_one(stranger.rx_cq, done); }));
  EXPECT_EQ(answered, 77);
  // From now on its messages are of a known source.
  ASSERT_EQ(fi_recv(b->ep, &got_, 1, nullptr, FI_ADDR_UNSPEC, this), 0);
  ASSERT_EQ(fi_send(stranger.ep, &sent_, 1, nullptr, stranger_to_b, nullptr), 0);
  ASSERT_TRUE(run_until([&] { return read_one(b->rx_cq, done); }));
  EXPECT_EQ(done.from, added);
}

// [decision 11] Room for the completion is booked at the post; no room changes nothing.
TEST_F(CqTest, FullQueueRefusesPostsAndLosesNothing) {
  NodeOptions small;
  small.cq_size = 4;
  small.tx_size = 4;
  small.rx_size = 16;
  open(small, small);
  std::vector<uint8_t>& buffers = kept(std::vector<uint8_t>(64));
  size_t accepted = 0;
  size_t received = 0;
  bool refused = false;
  // Nothing is read from the sender's CQ, so posts must end in -FI_EAGAIN, not in a loss.
  ASSERT_TRUE(run_until([&] {
    if (received + 8 > accepted && received < 64) {
      const ssize_t rc = fi_recv(b->ep, &buffers[received % 64], 1, nullptr, FI_ADDR_UNSPEC, this);
      EXPECT_TRUE(rc == 0 || rc == -FI_EAGAIN);
    }
    const ssize_t rc = fi_send(a->ep, &sent_, 1, nullptr, to_b, this);
    if (rc == 0) ++accepted;
    EXPECT_TRUE(rc == 0 || rc == -FI_EAGAIN) << rc;
    Done done;
    while (read_one(b->rx_cq, done)) ++received;
    refused = refused || (rc == -FI_EAGAIN && received == accepted);
    return refused;
  }));
  EXPECT_LE(accepted, 8u);  // 4 entries and 4 operations in flight
  EXPECT_GE(accepted, 4u);
  for (size_t i = 0; i < accepted; ++i) EXPECT_EQ(next(a->tx_cq).err, 0) << i;
  EXPECT_TRUE(stays_empty(a->tx_cq));
  EXPECT_EQ(fi_send(a->ep, &sent_, 1, nullptr, to_b, this), 0) << "room again";
}

// [ABI-028] Without a buffer of the application's, err_data points to the provider's.
TEST_F(CqTest, ErrDataGoesToTheCallersBufferOrIsLent) {
  NodeOptions options;
  options.caps |= FI_SOURCE_ERR;
  open({}, options);
  Node stranger;
  const fi_addr_t stranger_to_b = stranger.insert(b->name());
  uint8_t second = 0;
  ASSERT_EQ(fi_recv(b->ep, &got_, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  ASSERT_EQ(fi_recv(b->ep, &second, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(fi_send(stranger.ep, &sent_, 1, nullptr, stranger_to_b, nullptr), 0);
  }
  fi_cq_err_entry lent{};
  ASSERT_TRUE(run_until([&] { return fi_cq_readerr(b->rx_cq, &lent, 0) == 1; }));
  ASSERT_NE(lent.err_data, nullptr);
  EXPECT_EQ(lent.err_data_size, 40u);
  std::vector<uint8_t> whole(static_cast<uint8_t*>(lent.err_data),
                             static_cast<uint8_t*>(lent.err_data) + 40);
  uint8_t mine[24];
  std::memset(mine, 0xEE, sizeof(mine));
  fi_cq_err_entry copied{};
  copied.err_data = mine;
  copied.err_data_size = 16;
  ASSERT_TRUE(run_until([&] { return fi_cq_readerr(b->rx_cq, &copied, 0) == 1; }));
  EXPECT_EQ(copied.err_data, mine);
  EXPECT_EQ(copied.err_data_size, 16u);
  EXPECT_EQ(std::memcmp(mine, whole.data(), 16), 0);
  EXPECT_EQ(mine[16], 0xEE);
}

// [LF-095, ABI-028] The code of the target, BAD_MKEY, and a text that names the peer. In a buffer
// that is too short the text is cut and still ends in zero.
TEST_F(CqTest, AnErrorTellsTheCodeOfTheTargetAndAsMuchOfTheTextAsFits) {
  open();
  ASSERT_EQ(fi_write(a->ep, &sent_, 1, nullptr, to_b, 0, 0x1234, this), 0);
  char text[9];
  std::memset(text, 'x', sizeof text);
  fi_cq_err_entry error{};
  error.err_data = text;
  error.err_data_size = 8;
  ASSERT_TRUE(run_until([&] { return fi_cq_readerr(a->tx_cq, &error, 0) == 1; }));
  EXPECT_EQ(error.op_context, this);
  EXPECT_EQ(error.err, FI_ENOKEY);
  EXPECT_EQ(error.prov_errno, 0x1C);
  EXPECT_EQ(error.err_data_size, 8u);
  EXPECT_EQ(std::string(text, sizeof text), std::string("(peer 1\0x", 9));
}

// [LF-123] Wait sets and mutexes are gone from libfabric 2 and were never offered.
TEST_F(CqTest, WrongArgumentsAreRefusedAtOpen) {
  open();
  fid_cq* cq = nullptr;
  fi_cq_attr attr{};
  attr.format = static_cast<fi_cq_format>(7);
  EXPECT_EQ(fi_cq_open(a->domain, &attr, &cq, nullptr), -FI_EINVAL);
  attr.format = FI_CQ_FORMAT_CONTEXT;
  attr.wait_obj = FI_WAIT_MUTEX_COND;
  EXPECT_EQ(fi_cq_open(a->domain, &attr, &cq, nullptr), -FI_ENOSYS);
  attr.wait_obj = FI_WAIT_SET;
  EXPECT_EQ(fi_cq_open(a->domain, &attr, &cq, nullptr), -FI_ENOSYS);
  fi_wait_attr set{};
  fid_wait* wait = nullptr;
  EXPECT_EQ(fi_wait_open(a->fabric, &set, &wait), -FI_ENOSYS);
  attr.wait_obj = FI_WAIT_NONE;
  ASSERT_EQ(fi_cq_open(a->domain, &attr, &cq, nullptr), 0);
  fi_cq_entry entry{};
  EXPECT_EQ(fi_cq_sread(cq, &entry, 1, nullptr, 0), -FI_EINVAL);
  EXPECT_EQ(fi_cq_signal(cq), -FI_EINVAL);
  int fd = -1;
  EXPECT_EQ(fi_control(&cq->fid, FI_GETWAIT, &fd), -FI_ENOSYS);
  EXPECT_EQ(fi_close(&cq->fid), 0);
  EXPECT_EQ(fi_close(&a->tx_cq->fid), -FI_EBUSY) << "an endpoint is bound";
}

// Resident memory of this process.
size_t resident_bytes() {
  long pages = 0;
  std::ifstream("/proc/self/statm").ignore(64, ' ') >> pages;
  return static_cast<size_t>(pages) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// fi_cq_test opens cq_cnt queues at once; queues without endpoints must not hold a ring each.
TEST_F(CqTest, QueuesThatNothingIsBoundToAreSmall) {
  constexpr size_t kQueues = 8192;
  constexpr size_t kBytesEach = 4096;
  open();
  fi_cq_attr attr{};
  attr.wait_obj = FI_WAIT_NONE;
  std::vector<fid_cq*> queues(kQueues);
  const size_t before = resident_bytes();
  for (fid_cq*& cq : queues) ASSERT_EQ(fi_cq_open(a->domain, &attr, &cq, nullptr), 0);
  EXPECT_LT(resident_bytes(), before + kQueues * kBytesEach);
  fi_cq_entry entry;
  EXPECT_EQ(fi_cq_read(queues[0], &entry, 1), -FI_EAGAIN);
  for (fid_cq* cq : queues) EXPECT_EQ(fi_close(&cq->fid), 0);
}

TEST_F(CqTest, ErrorTextsNameTheCode) {
  open();
  char text[64];
  EXPECT_STREQ(fi_cq_strerror(a->tx_cq, 0x1C, nullptr, text, sizeof(text)),
               fi_cq_strerror(a->tx_cq, 0x1C, nullptr, nullptr, 0));
  EXPECT_NE(std::string(text).find("BAD_MKEY"), std::string::npos) << text;
  EXPECT_STREQ(fi_cq_strerror(a->tx_cq, 0x1C, "(peer 10.0.0.1 port 4793)", text, sizeof(text)),
               text);
  EXPECT_NE(std::string(text).find("10.0.0.1"), std::string::npos) << text;
}

// fi_av, USER IDENTIFIERS FOR ADDRESSES: completions name a sender as its user does, and
// operations as the address vector.
class UserIdTest : public PairTest {
 protected:
  static NodeOptions with_ids() {
    NodeOptions options;
    options.caps = FI_MSG | FI_SOURCE | FI_DIRECTED_RECV | FI_AV_USER_ID;
    return options;
  }
  fi_addr_t insert(fi_addr_t id, uint64_t flags = FI_AV_USER_ID) {
    fi_addr_t addr = id;
    EXPECT_EQ(fi_av_insert(b->av, a->name().data(), 1, &addr, flags, nullptr), 1);
    return addr;
  }
  fi_addr_t sender_of_next(fi_addr_t from) {
    auto& room = kept(std::vector<uint8_t>(10));
    EXPECT_EQ(fi_recv(b->ep, room.data(), 10, nullptr, from, nullptr), 0);
    EXPECT_EQ(fi_inject(a->ep, "x", 1, to_b), 0);
    return next(b->rx_cq).from;
  }
};

// [LF-160]
TEST_F(UserIdTest, CompletionsReportTheUserId) {
  open({}, with_ids());
  ASSERT_EQ(fi_av_remove(b->av, &to_a, 1, 0), 0);
  fi_addr_t addr = insert(0x1234'5678'9ABC);
  EXPECT_EQ(addr, to_a);  // the lowest free one, as without a name
  EXPECT_EQ(sender_of_next(addr), 0x1234'5678'9ABCu);
  EXPECT_EQ(fi_inject(b->ep, "x", 1, addr), 0);
  ASSERT_EQ(fi_av_remove(b->av, &addr, 1, 0), 0);
  const fi_addr_t plain = insert(77, 0);
  EXPECT_EQ(sender_of_next(plain), plain);
}

// [LF-160]
TEST_F(UserIdTest, UserIdsNeedTheCapability) {
  open({}, with_ids());
  const auto name = a->name();
  EXPECT_EQ(fi_av_insert(b->av, name.data(), 1, nullptr, FI_AV_USER_ID, nullptr), -FI_EINVAL);
  fi_addr_t addr = 5;
  EXPECT_EQ(fi_av_insert(a->av, name.data(), 1, &addr, FI_AV_USER_ID, nullptr), -FI_EBADFLAGS);
  fi_av_attr attr{};
  attr.flags = FI_AV_USER_ID;
  fid_av* av = nullptr;
  EXPECT_EQ(fi_av_open(a->domain, &attr, &av, nullptr), -FI_EBADFLAGS);
  ASSERT_EQ(fi_av_open(b->domain, &attr, &av, nullptr), 0);
  // Names come later there.
  EXPECT_EQ(fi_av_insert(av, name.data(), 1, &addr, FI_AV_USER_ID, nullptr), -FI_EINVAL);
  EXPECT_EQ(fi_av_insert(av, name.data(), 1, &addr, 0, nullptr), 1);
#if UET_HAVE_AV_AUTH_KEY
  EXPECT_EQ(fi_av_set_user_id(av, addr, 99, 0), 0);
  EXPECT_EQ(fi_av_set_user_id(av, addr, 99, 1), -FI_EBADFLAGS);
  EXPECT_EQ(fi_av_set_user_id(av, addr + 1, 99, 0), -FI_EINVAL);
  EXPECT_EQ(fi_av_set_user_id(b->av, to_a, 99, 0), -FI_EINVAL);
#endif
  EXPECT_EQ(fi_close(&av->fid), 0);
}

}  // namespace
}  // namespace uet::prov::test
