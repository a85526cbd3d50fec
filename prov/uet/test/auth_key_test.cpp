// Endpoints and regions of several jobs: FI_AV_AUTH_KEY, in libfabric since 1.20. Expected
// behaviour is from fi_av(3), fi_domain(3), fi_mr(3), fi_msg(3) and fi_cq(3) of 2.1.
#include "prov/uet/test/getinfo.h"
#include "prov/uet/test/node.h"

#include <string>

namespace uet::prov::test {
namespace {

class AuthKeyTest : public PairTest {
 protected:
  // Two nodes that each have the keys 7 and 9, and know each other under both.
  void open_both(uint64_t more_caps = 0) {
    NodeOptions options;
    options.av_jobs = {7, 9};
    options.caps |= more_caps;
    a = std::make_unique<Node>(options);
    b = std::make_unique<Node>(options);
    for (const size_t i : {0u, 1u}) {
      to_b_[i] = a->insert(b->name(), a->keys[i]);
      to_a_[i] = b->insert(a->name(), b->keys[i]);
    }
  }
  // Sends one octet to B under that key and returns how that ended.
  int send(size_t key) {
    EXPECT_EQ(fi_send(a->ep, kept(1), 1, nullptr, to_b_[key], nullptr), 0);
    return next(a->tx_cq).err;
  }
  void receive(fi_addr_t from, uintptr_t context, uint64_t flags = 0) {
    iovec iov{kept(0), 1};
    fi_msg message{};
    message.msg_iov = &iov;
    message.iov_count = 1;
    message.addr = from;
    message.context = reinterpret_cast<void*>(context);
    ASSERT_EQ(fi_recvmsg(b->ep, &message, flags), 0);
  }
  uintptr_t arrival() { return reinterpret_cast<uintptr_t>(next(b->rx_cq).context); }
  // How a write to a region of B that was registered like that ends, by key.
  std::string writes(fi_addr_t address, uint64_t flags) {
    fi_mr_auth_key key{b->av, address};
    fi_mr_attr attr = region(key);
    fid_mr* mr = nullptr;
    EXPECT_EQ(fi_mr_regattr(b->domain, &attr, flags, &mr), 0);
    std::string out;
    for (const fi_addr_t to : to_b_) {
      EXPECT_EQ(fi_write(a->ep, kept(1), 1, nullptr, to, 0, fi_mr_key(mr), nullptr), 0);
      out += next(a->tx_cq).err == 0 ? 'y' : 'n';
    }
    EXPECT_EQ(fi_close(&mr->fid), 0);
    return out;
  }
  fi_mr_attr region(fi_mr_auth_key& key) {
    iov_ = {memory_.data(), memory_.size()};
    fi_mr_attr attr{};
    attr.mr_iov = &iov_;
    attr.iov_count = 1;
    attr.access = FI_REMOTE_WRITE;
    attr.requested_key = 5;
    attr.auth_key = reinterpret_cast<uint8_t*>(&key);
    attr.auth_key_size = sizeof key;
    return attr;
  }

  fi_addr_t to_b_[2] = {};
  fi_addr_t to_a_[2] = {};
  std::vector<uint8_t> memory_ = std::vector<uint8_t>(8);
  iovec iov_{};
};

// [LF-019, LF-016] An fi_addr_t is an address under a key: the message is of that job, and its
// source is reported as that address under that key.
TEST_F(AuthKeyTest, OneEndpointTalksInSeveralJobs) {
  open_both();
  for (const size_t i : {1u, 0u}) {
    receive(FI_ADDR_UNSPEC, 1);
    EXPECT_EQ(send(i), 0);
    EXPECT_EQ(next(b->rx_cq).from, to_a_[i]);
  }
}

// [LF-020, LF-021] An endpoint of one job is reached under its key alone, and reaches the other
// one, which only accepts its own keys.
TEST_F(AuthKeyTest, PeersOfOneJobAreReachedUnderTheirKey) {
  NodeOptions many;
  many.av_jobs = {7, 9};
  many.tx_op_flags = FI_TRANSMIT_COMPLETE;  // and so a refusal is an error of the send
  NodeOptions one;
  one.endpoint_job = 9;
  one.tx_op_flags = FI_TRANSMIT_COMPLETE;
  a = std::make_unique<Node>(many);
  b = std::make_unique<Node>(one);
  for (const size_t i : {0u, 1u}) to_b_[i] = a->insert(b->name(), a->keys[i]);
  receive(FI_ADDR_UNSPEC, 1);
  EXPECT_NE(send(0), 0);
  EXPECT_EQ(send(1), 0);
  EXPECT_EQ(arrival(), 1u);
  to_a = b->insert(a->name());
  EXPECT_EQ(fi_recv(a->ep, kept(0), 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  EXPECT_EQ(fi_send(b->ep, kept(1), 1, nullptr, to_a, nullptr), 0);
  EXPECT_EQ(next(b->tx_cq).err, 0);
  EXPECT_EQ(next(a->rx_cq).from, to_b_[1]);

  one.endpoint_job = 8;
  Node stranger(one);
  to_a = stranger.insert(a->name());
  EXPECT_EQ(fi_send(stranger.ep, kept(1), 1, nullptr, to_a, nullptr), 0);
  EXPECT_NE(next(stranger.tx_cq).err, 0);
}

// [LF-021] FI_AUTH_KEY makes the source a key; without it the source is an address, under its key
// alone.
TEST_F(AuthKeyTest, AReceiveIsForAKeyOrForAnAddress) {
  open_both();
  receive(b->keys[1], 1, FI_AUTH_KEY);
  receive(to_a_[0], 2);
  EXPECT_EQ(send(0), 0);
  EXPECT_EQ(arrival(), 2u);
  EXPECT_EQ(send(0), 0);  // kept
  EXPECT_EQ(send(1), 0);
  EXPECT_EQ(arrival(), 1u);
  receive(to_a_[1], 3);
  receive(b->keys[0], 4, FI_AUTH_KEY);
  EXPECT_EQ(arrival(), 4u);
  fi_msg message{};
  message.addr = b->keys[0] + 7;  // no such key
  EXPECT_EQ(fi_recvmsg(b->ep, &message, FI_AUTH_KEY | FI_PEEK), -FI_EADDRNOTAVAIL);
  message.addr = b->keys[0];  // no such address
  EXPECT_EQ(fi_recvmsg(b->ep, &message, FI_PEEK), -FI_EADDRNOTAVAIL);
}

// [LF-019] All keys that there are, one of them, or one address.
TEST_F(AuthKeyTest, RegionsAreForKeysOrForAnAddress) {
  open_both();
  EXPECT_EQ(writes(FI_ADDR_UNSPEC, 0), "yy");
  EXPECT_EQ(writes(b->keys[0], FI_AUTH_KEY), "yn");
  EXPECT_EQ(writes(to_a_[1], 0), "ny");
  EXPECT_EQ(writes(b->insert(b->name(), b->keys[1]), 0), "nn");  // another process
}

// [LF-019] fi_mr_reg has no argument for a key, and a JobID cannot stand for a key.
TEST_F(AuthKeyTest, RegionsNeedFiMrRegattr) {
  open_both();
  fid_mr* mr = nullptr;
  EXPECT_EQ(fi_mr_reg(b->domain, memory_.data(), 8, FI_REMOTE_WRITE, 0, 1, 0, &mr, nullptr),
            -FI_EOPNOTSUPP);
  fi_mr_auth_key key{b->av, FI_ADDR_UNSPEC};
  fi_mr_attr attr = region(key);
  EXPECT_EQ(fi_mr_regv(b->domain, attr.mr_iov, 1, FI_REMOTE_WRITE, 0, 1, 0, &mr, nullptr),
            -FI_EOPNOTSUPP);
  attr.auth_key_size = 4;
  EXPECT_EQ(fi_mr_regattr(b->domain, &attr, 0, &mr), -FI_EINVAL);
  attr.auth_key_size = 0;
  EXPECT_EQ(fi_mr_regattr(b->domain, &attr, 0, &mr), -FI_EINVAL);
  attr.auth_key_size = sizeof key;
  key.src_addr = b->keys[0];  // not without FI_AUTH_KEY
  EXPECT_EQ(fi_mr_regattr(b->domain, &attr, 0, &mr), -FI_EINVAL);
  key.av = a->av;  // of another domain
  key.src_addr = FI_ADDR_UNSPEC;
  EXPECT_EQ(fi_mr_regattr(b->domain, &attr, 0, &mr), -FI_EDOMAIN);
}

// [LF-019] Later keys do not apply to existing objects.
TEST_F(AuthKeyTest, LaterKeysAreForLaterEndpointsAndRegions) {
  NodeOptions options;
  options.av_jobs = {9};
  b = std::make_unique<Node>(options);
  options.av_jobs = {7, 9};
  options.tx_op_flags = FI_TRANSMIT_COMPLETE;
  a = std::make_unique<Node>(options);
  for (const size_t i : {0u, 1u}) to_b_[i] = a->insert(b->name(), a->keys[i]);
  b->insert_key(7);
  receive(FI_ADDR_UNSPEC, 1);
  EXPECT_NE(send(0), 0);
  EXPECT_EQ(send(1), 0);
  EXPECT_EQ(arrival(), 1u);
}

// [LF-017, LF-019] What a key looks like, how many there are, and how they go.
TEST_F(AuthKeyTest, KeysComeAndGo) {
  open_both();
  fi_addr_t key = 0;
  uint32_t job = 0x100'0000;
  EXPECT_EQ(fi_av_insert_auth_key(a->av, &job, 4, &key, 0), -FI_EINVAL);
  job = 0;
  EXPECT_EQ(fi_av_insert_auth_key(a->av, &job, 4, &key, 0), -FI_EINVAL);
  job = 11;
  EXPECT_EQ(fi_av_insert_auth_key(a->av, &job, 3, &key, 0), -FI_EINVAL);
  EXPECT_EQ(fi_av_insert_auth_key(a->av, &job, 4, nullptr, 0), -FI_EINVAL);
  EXPECT_EQ(fi_av_insert_auth_key(a->av, &job, 4, &key, FI_AUTH_KEY), -FI_EBADFLAGS);
  for (int i = 2; i < 64; ++i) {  // max_ep_auth_key
    ASSERT_EQ(fi_av_insert_auth_key(a->av, &job, 4, &key, 0), 0) << i;
  }
  fi_addr_t one_more = 0;
  EXPECT_EQ(fi_av_insert_auth_key(a->av, &job, 4, &one_more, 0), -FI_ENOSPC);
  EXPECT_EQ(fi_av_remove(a->av, &key, 1, FI_AUTH_KEY), 0);
  EXPECT_EQ(fi_av_remove(a->av, &key, 1, FI_AUTH_KEY), -FI_EINVAL);
  EXPECT_EQ(fi_av_insert_auth_key(a->av, &job, 4, &one_more, 0), 0);

  EXPECT_EQ(fi_av_remove(a->av, a->keys.data(), 1, FI_AUTH_KEY), -FI_EBUSY);
  EXPECT_EQ(fi_av_remove(a->av, a->keys.data(), 1, 0), -FI_EINVAL);  // not an address
  EXPECT_EQ(fi_av_remove(a->av, to_b_, 1, FI_AUTH_KEY), -FI_EINVAL);
  a->close_endpoint();
  EXPECT_EQ(fi_av_remove(a->av, a->keys.data(), 1, FI_AUTH_KEY), 0);
}

// Lookups of keys and of addresses write as much as there is room for, and return the full size.
TEST_F(AuthKeyTest, KeysAreLookedUp) {
  open_both();
  for (const fi_addr_t of : {a->keys[1], to_b_[1]}) {
    uint32_t job = 0;
    size_t size = sizeof job;
    EXPECT_EQ(fi_av_lookup_auth_key(a->av, of, &job, &size), 0);
    EXPECT_EQ(job, 9u);
    EXPECT_EQ(size, 4u);
    size = 0;
    EXPECT_EQ(fi_av_lookup_auth_key(a->av, of, nullptr, &size), 0);
    EXPECT_EQ(size, 4u);
  }
  size_t size = 0;
  EXPECT_EQ(fi_av_lookup_auth_key(a->av, 77, nullptr, &size), -FI_EINVAL);
}

// Every address has a key, which is checked one by one.
TEST_F(AuthKeyTest, AddressesNeedKeys) {
  open_both();
  const std::vector<uint8_t> name = b->name();
  std::vector<uint8_t> names = name;
  names.insert(names.end(), name.begin(), name.end());
  fi_addr_t addresses[2] = {a->keys[0], 5};
  EXPECT_EQ(fi_av_insert(a->av, names.data(), 2, addresses, 0, nullptr), -FI_EINVAL);
  EXPECT_EQ(fi_av_insert(a->av, names.data(), 2, nullptr, FI_AUTH_KEY, nullptr), -FI_EINVAL);
  int errors[2] = {-1, -1};
  EXPECT_EQ(fi_av_insert(a->av, names.data(), 2, addresses, FI_AUTH_KEY | FI_SYNC_ERR, errors), 1);
  EXPECT_EQ(errors[0], 0);
  EXPECT_EQ(errors[1], FI_EINVAL);
  EXPECT_EQ(addresses[1], FI_ADDR_NOTAVAIL);
  fi_addr_t named = a->keys[0];
  EXPECT_EQ(fi_av_insertsvc(a->av, "127.0.0.1", "7", &named, FI_AUTH_KEY, nullptr), 1);

  NodeOptions options;
  Node plain(options);
  fi_addr_t address = 0;
  EXPECT_EQ(fi_av_insert(plain.av, name.data(), 1, &address, FI_AUTH_KEY, nullptr), -FI_EBADFLAGS);
  EXPECT_EQ(fi_av_remove(plain.av, &address, 1, FI_AUTH_KEY), -FI_EBADFLAGS);
}

TEST_F(AuthKeyTest, AnEndpointNeedsKeys) {
  NodeOptions options;
  options.av_jobs = {7};
  options.is_enabled = false;
  Node node(options);
  fi_addr_t key = node.keys[0];
  EXPECT_EQ(fi_av_remove(node.av, &key, 1, FI_AUTH_KEY), 0);
  EXPECT_EQ(fi_enable(node.ep), -FI_ENOKEY);
  node.insert_key(9);
  EXPECT_EQ(fi_enable(node.ep), 0);
}

// [LF-016, LF-109] A sender that is not in the table: its address, and the key that it used.
TEST_F(AuthKeyTest, AnUnknownSenderIsReportedWithItsKey) {
  NodeOptions options;
  options.av_jobs = {7, 9};
  options.caps |= FI_SOURCE_ERR;
  a = std::make_unique<Node>(options);
  b = std::make_unique<Node>(options);
  for (const size_t i : {0u, 1u}) to_b_[i] = a->insert(b->name(), a->keys[i]);
  to_a_[0] = b->insert(a->name(), b->keys[0]);
  receive(FI_ADDR_UNSPEC, 1);
  receive(FI_ADDR_UNSPEC, 2);
  EXPECT_EQ(send(0), 0);
  EXPECT_EQ(next(b->rx_cq).from, to_a_[0]);
  EXPECT_EQ(send(1), 0);
  fi_cq_err_entry error{};
  ASSERT_TRUE(run_until([&] { return fi_cq_readerr(b->rx_cq, &error, 0) == 1; }));
  EXPECT_EQ(error.err, FI_EADDRNOTAVAIL);
  EXPECT_EQ(error.src_addr, b->keys[1]);
}

Answer ask_as(uint32_t version, const std::function<void(fi_info&)>& change) {
  const Info hints = make_hints();
  hints->domain_attr->auth_key_size = FI_AV_AUTH_KEY;
  change(*hints);
  return prov::ask(hints.get(), "127.0.0.1", nullptr, FI_SOURCE, version);
}

// [LF-019, LF-020, LF-108] The endpoint will be an absolute one: bit 5 of the flags. [LF-004]
TEST(AuthKeyInfoTest, TheHintIsGranted) {
  const Answer granted = ask_as(FI_VERSION(1, 20), [](fi_info& h) {
    h.caps = FI_MSG | FI_DIRECTED_RECV;
    h.domain_attr->caps = FI_DIRECTED_RECV;
    h.domain_attr->max_ep_auth_key = 64;
  });
  ASSERT_EQ(granted.result, 0);
  const fi_domain_attr& domain = *granted.info->domain_attr;
  EXPECT_EQ(domain.auth_key_size, FI_AV_AUTH_KEY);
  EXPECT_EQ(domain.auth_key, nullptr);
  EXPECT_EQ(domain.max_ep_auth_key, 64u);
  EXPECT_NE(domain.caps & FI_DIRECTED_RECV, 0u);
  EXPECT_EQ(granted.info->ep_attr->auth_key_size, 0u);
  const auto* octets = static_cast<const uint8_t*>(granted.info->src_addr);
  ASSERT_EQ(granted.info->src_addrlen, 40u);
  EXPECT_EQ((octets[2] << 8 | octets[3]) >> 5 & 1, 1);
}

TEST(AuthKeyInfoTest, ImpossibleCombinationsAreRefused) {
  uint8_t key[4] = {1, 0, 0, 0};
  const auto result = [](uint32_t version, const std::function<void(fi_info&)>& change) {
    return ask_as(version, change).result;
  };
  EXPECT_EQ(result(FI_VERSION(1, 20), [](fi_info&) {}), 0);
  EXPECT_EQ(result(FI_VERSION(1, 19), [](fi_info&) {}), -FI_ENODATA);
  EXPECT_EQ(result(FI_VERSION(1, 20), [](fi_info& h) { h.domain_attr->max_ep_auth_key = 65; }),
            -FI_ENODATA);
  EXPECT_EQ(result(FI_VERSION(1, 20),
                   [&](fi_info& h) {
                     h.ep_attr->auth_key = static_cast<uint8_t*>(std::malloc(4));
                     std::memcpy(h.ep_attr->auth_key, key, 4);
                     h.ep_attr->auth_key_size = 4;
                   }),
            -FI_ENODATA);
  for (const uint32_t format : {FI_SOCKADDR, FI_SOCKADDR_IN, FI_SOCKADDR_IN6}) {  // [LF-020]
    EXPECT_EQ(result(FI_VERSION(1, 20), [&](fi_info& h) { h.addr_format = format; }), -FI_ENODATA);
  }
  EXPECT_EQ(result(FI_VERSION(1, 20), [](fi_info& h) { h.domain_attr->caps = FI_DIRECTED_RECV; }),
            0);  // no wish means all capabilities
  EXPECT_EQ(result(FI_VERSION(1, 20),
                   [](fi_info& h) {
                     h.caps = FI_MSG;
                     h.domain_attr->caps = FI_DIRECTED_RECV;
                   }),
            -FI_ENODATA);
}

}  // namespace
}  // namespace uet::prov::test
