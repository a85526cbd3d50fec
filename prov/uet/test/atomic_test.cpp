// Atomics through the libfabric API: the whole matrix of operations and data types, their forms,
// and the refusals.
#include "prov/uet/test/node.h"

#include <rdma/fi_atomic.h>

#include <complex>
#include <memory>

namespace uet::prov::test {
namespace {

__extension__ using Int128 = __int128;

constexpr int kTypes = FI_UINT128 + 1;
constexpr int kOps = FI_MSWAP + 1;
constexpr size_t kElementMax = 32;

bool is_complex(int type) {
  return type == FI_FLOAT_COMPLEX || type == FI_DOUBLE_COMPLEX || type == FI_LONG_DOUBLE_COMPLEX;
}
bool is_integer(int type) { return type <= FI_UINT64 || type >= FI_INT128; }
bool is_bitwise(int op) { return op == FI_BOR || op == FI_BAND || op == FI_BXOR || op == FI_MSWAP; }
bool is_comparing(int op) {
  return op == FI_MIN || op == FI_MAX || (op >= FI_CSWAP_LE && op <= FI_CSWAP_GT);
}

// The answer that the manual demands of fi_query_atomic: form 0 plain, 1 fetch, 2 compare.
bool is_offered(int form, int op, int type) {
  const bool swaps = op >= FI_CSWAP;
  if (swaps != (form == 2)) return false;
  if (op == FI_ATOMIC_READ && form == 0) return false;
  if (is_bitwise(op) && !is_integer(type)) return false;
  if (is_comparing(op) && is_complex(type)) return false;
  return !(form == 2 && type == FI_LONG_DOUBLE_COMPLEX);  // wider than an operand field
}
uint64_t query_flags(int form) {
  return form == 1 ? FI_FETCH_ATOMIC : form == 2 ? FI_COMPARE_ATOMIC : 0;
}

struct Element {
  alignas(16) uint8_t octets[kElementMax] = {};
  bool operator==(const Element& o) const { return memcmp(octets, o.octets, sizeof octets) == 0; }
};

template <class T>
size_t store(Element& e, int8_t value) {
  const T typed = static_cast<T>(value);
  memcpy(e.octets, &typed, sizeof typed);
  // Ten of the 16 octets of a long double count; the rest is copied.
  return sizeof typed;
}

// The value as that type; its size.
size_t put(Element& e, int type, int8_t value) {
  switch (type) {
    case FI_INT8:
    case FI_UINT8:
      return store<int8_t>(e, value);
    case FI_INT16:
    case FI_UINT16:
      return store<int16_t>(e, value);
    case FI_INT32:
    case FI_UINT32:
      return store<int32_t>(e, value);
    case FI_INT64:
    case FI_UINT64:
      return store<int64_t>(e, value);
    case FI_FLOAT:
      return store<float>(e, value);
    case FI_DOUBLE:
      return store<double>(e, value);
    case FI_FLOAT_COMPLEX:
      return store<std::complex<float>>(e, value);
    case FI_DOUBLE_COMPLEX:
      return store<std::complex<double>>(e, value);
    case FI_LONG_DOUBLE:
      return store<long double>(e, value);
    case FI_LONG_DOUBLE_COMPLEX:
      return store<std::complex<long double>>(e, value);
    default:
      return store<Int128>(e, value);
  }
}
Element element(int type, int8_t value) {
  Element e;
  put(e, type, value);
  return e;
}
// Only the octets that make the value.
bool same(int type, const uint8_t* at, int8_t value) {
  Element e;
  const size_t size = put(e, type, value);
  if (type == FI_LONG_DOUBLE) return memcmp(at, e.octets, 10) == 0;
  if (type == FI_LONG_DOUBLE_COMPLEX) {
    return memcmp(at, e.octets, 10) == 0 && memcmp(at + 16, e.octets + 16, 10) == 0;
  }
  return memcmp(at, e.octets, size) == 0;
}

// With 12 in memory and the operand 10; compare forms compare with 12, a mask is 3.
constexpr int8_t kResults[kOps] = {
    10, 12, 22, 120, 1,  1,  14, 8, 0, 6, 12, 10,  // MIN .. ATOMIC_WRITE
    10, 12, 10, 12,  10, 12, 14,                   // CSWAP, NE, LE, LT, GE, GT, MSWAP
};

class AtomicTest : public PairTest {
 protected:
  void open_memory(const NodeOptions& options = with_atomics()) {
    open(options, options);
    register_memory();
  }
  void register_memory() {
    region_ = b->registered(memory_.data(), sizeof memory_, FI_REMOTE_READ | FI_REMOTE_WRITE, 9);
    ASSERT_NE(region_, nullptr);
    key_ = fi_mr_key(region_);
    base_ = (b->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0
                ? reinterpret_cast<uint64_t>(memory_.data())
                : 0;
  }
  static NodeOptions with_atomics() {
    NodeOptions o;
    o.caps |= FI_ATOMIC;
    return o;
  }
  void TearDown() override {
    if (region_ != nullptr) {
      EXPECT_EQ(fi_close(&region_->fid), 0);
    }
    PairTest::TearDown();
  }
  // Posts one operation on the element at the start of memory; must end well.
  void run(int form, int op, int type, Element& old) {
    const auto t = static_cast<fi_datatype>(type);
    const auto o = static_cast<fi_op>(op);
    operand_ = element(type, 10);
    compare_ = element(type, op == FI_MSWAP ? 3 : 12);
    ssize_t rc = 0;
    if (form == 0) {
      rc = fi_atomic(a->ep, &operand_, 1, nullptr, to_b, base_, key_, t, o, this);
    } else if (form == 1) {
      rc = fi_fetch_atomic(a->ep, &operand_, 1, nullptr, &old, nullptr, to_b, base_, key_, t, o,
                           this);
    } else {
      rc = fi_compare_atomic(a->ep, &operand_, 1, nullptr, &compare_, nullptr, &old, nullptr, to_b,
                             base_, key_, t, o, this);
    }
    ASSERT_EQ(rc, 0);
    const Done done = next(a->tx_cq);
    EXPECT_EQ(done.err, 0) << done.text;
    EXPECT_EQ(done.context, this);
    EXPECT_EQ(done.flags, uint64_t{FI_ATOMIC} | (form == 0 ? FI_WRITE : FI_READ));
  }
  uint64_t* words() { return reinterpret_cast<uint64_t*>(memory_.data()); }

  alignas(16) std::array<uint8_t, 1024> memory_{};
  Element operand_;
  Element compare_;
  fid_mr* region_ = nullptr;
  uint64_t key_ = 0;
  uint64_t base_ = 0;
};

// [LF-050..052, LF-061, LF-062, LF-063, LF-121] Every operation on every data type in every form:
// the supported ones do what the manual says, and no others are supported.
TEST_F(AtomicTest, TheWholeMatrix) {
  open_memory();
  int offered = 0;
  for (int form = 0; form < 3; ++form) {
    for (int op = 0; op < kOps; ++op) {
      for (int type = 0; type < kTypes; ++type) {
        SCOPED_TRACE("form " + std::to_string(form) + " op " + std::to_string(op) + " type " +
                     std::to_string(type));
        const auto t = static_cast<fi_datatype>(type);
        const auto o = static_cast<fi_op>(op);
        fi_atomic_attr attr{};
        const int rc = fi_query_atomic(a->domain, t, o, &attr, query_flags(form));
        ASSERT_EQ(rc, is_offered(form, op, type) ? 0 : -FI_EOPNOTSUPP);
        if (rc != 0) continue;
        ++offered;
        Element scratch;
        const size_t size = put(scratch, type, 12);
        EXPECT_EQ(attr.size, size);
        EXPECT_EQ(attr.count, form == 2 ? 1 : 256 / size);
        memory_.fill(0xEE);
        memcpy(memory_.data(), scratch.octets, size);
        Element old;
        run(form, op, type, old);
        EXPECT_TRUE(same(type, memory_.data(), kResults[op]));
        EXPECT_EQ(memory_[size], 0xEE);
        EXPECT_TRUE(form == 0 ? old == Element{} : same(type, old.octets, 12));
      }
    }
  }
  // plain: 2 x 13 + 6 x 16 + 3 x 10 (MIN MAX | SUM PROD LOR LAND LXOR WRITE | bits); fetch: READ,
  // too; compare: 2 x 15 (without the widest) + 4 x 13 + 10.
  EXPECT_EQ(offered, 152 + 168 + 92);
}

// [LF-050] Arrays, scattered, and over several remote segments, with one completion.
TEST_F(AtomicTest, VectorsOfElements) {
  open_memory();
  uint64_t operand[6] = {1, 2, 3, 4, 5, 6}, old[6] = {};
  for (uint64_t i = 0; i < 8; ++i) words()[i] = 100 * i;
  fi_ioc iov[2] = {{operand, 2}, {operand + 2, 4}};
  fi_ioc results[2] = {{old, 5}, {old + 5, 1}};
  ASSERT_EQ(fi_fetch_atomicv(a->ep, iov, nullptr, 2, results, nullptr, 2, to_b, base_ + 8, key_,
                             FI_UINT64, FI_SUM, this),
            0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
  for (uint64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(old[i], 100 * (i + 1));
    EXPECT_EQ(words()[i + 1], 100 * (i + 1) + i + 1);
  }
  EXPECT_EQ(words()[7], 700u);

  fi_rma_ioc remote[2] = {{base_, 1, key_}, {base_ + 512, 5, key_}};
  fi_msg_atomic msg{};
  msg.msg_iov = iov;
  msg.iov_count = 2;
  msg.addr = to_b;
  msg.rma_iov = remote;
  msg.rma_iov_count = 2;
  msg.datatype = FI_UINT64;
  msg.op = FI_ATOMIC_WRITE;
  msg.context = &msg;
  ASSERT_EQ(fi_atomicmsg(a->ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE), 0);
  const Done done = next(a->tx_cq);
  EXPECT_EQ(done.err, 0);
  EXPECT_EQ(done.context, &msg);
  EXPECT_TRUE(stays_empty(a->tx_cq));
  EXPECT_EQ(words()[0], 1u);
  for (uint64_t i = 0; i < 5; ++i) EXPECT_EQ(words()[64 + i], i + 2);
}

// [LF-050, LF-055] Injected: the operand is free at once, success is silent.
TEST_F(AtomicTest, InjectedAtomics) {
  open_memory();
  for (uint64_t i = 0; i < 10; ++i) {
    uint64_t operand = i;
    ASSERT_EQ(fi_inject_atomic(a->ep, &operand, 1, to_b, base_, key_, FI_UINT64, FI_SUM), 0);
    operand = 1000;
  }
  EXPECT_TRUE(run_until([&] { return words()[0] == 45; })) << words()[0];
  EXPECT_TRUE(stays_empty(a->tx_cq));
  EXPECT_EQ(words()[0], 45u);
}

// [LF-097] Atomics count as writes, those that fetch as reads; at the target as remote writes.
TEST_F(AtomicTest, AtomicsAddToTheWriteAndReadCounters) {
  NodeOptions options = with_atomics();
  options.counters = true;
  options.caps |= FI_RMA_EVENT;
  open_memory(options);
  uint64_t operand = 1, old = 0;
  ASSERT_EQ(fi_atomic(a->ep, &operand, 1, nullptr, to_b, base_, key_, FI_UINT64, FI_SUM, nullptr),
            0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
  ASSERT_EQ(fi_fetch_atomic(a->ep, &operand, 1, nullptr, &old, nullptr, to_b, base_, key_,
                            FI_UINT64, FI_SUM, nullptr),
            0);
  EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_EQ(fi_cntr_read(a->tx_counter), 2u);
  EXPECT_EQ(words()[0], 2u);
  EXPECT_EQ(old, 1u);
}

// [LF-040] fi_mr(3): FI_REMOTE_WRITE is the right to be the target of a write or an atomic.
// Operations that return octets also need FI_REMOTE_READ.
TEST_F(AtomicTest, RightsAreThoseOfTheManual) {
  open_memory();
  alignas(16) uint64_t word = 5;
  uint64_t operand = 1, old = 0;
  const auto open_word = [&](uint64_t access, uint64_t key) {
    fid_mr* const region = b->registered(&word, sizeof word, access, key);
    return std::unique_ptr<fid_mr, int (*)(fid_mr*)>(region,
                                                     [](fid_mr* mr) { return fi_close(&mr->fid); });
  };
  const auto write_only = open_word(FI_REMOTE_WRITE, 10);
  const auto read_only = open_word(FI_REMOTE_READ, 11);
  const uint64_t base = base_ == 0 ? 0 : reinterpret_cast<uint64_t>(&word);
  const auto add = [&](fid_mr* region) {
    EXPECT_EQ(fi_atomic(a->ep, &operand, 1, nullptr, to_b, base, fi_mr_key(region), FI_UINT64,
                        FI_SUM, this),
              0);
    return next(a->tx_cq).err;
  };
  const auto fetch = [&](fid_mr* region, fi_op op) {
    EXPECT_EQ(fi_fetch_atomic(a->ep, &operand, 1, nullptr, &old, nullptr, to_b, base,
                              fi_mr_key(region), FI_UINT64, op, this),
              0);
    return next(a->tx_cq).err;
  };
  EXPECT_EQ(add(write_only.get()), 0);
  EXPECT_EQ(word, 6u);
  EXPECT_EQ(fetch(read_only.get(), FI_ATOMIC_READ), 0);
  EXPECT_EQ(old, 6u);
  EXPECT_EQ(add(read_only.get()), FI_EPERM);
  EXPECT_EQ(fetch(write_only.get(), FI_SUM), FI_EPERM);
  EXPECT_EQ(fetch(read_only.get(), FI_SUM), FI_EPERM);
  EXPECT_EQ(fetch(write_only.get(), FI_ATOMIC_READ), FI_EPERM);
  EXPECT_EQ(word, 6u);
}

// [LF-097] fi_endpoint(3): FI_REMOTE_READ of an endpoint counts reads and atomics that fetch or
// compare, FI_REMOTE_WRITE writes and the other atomics. A bound counter counts with or without
// FI_RMA_EVENT: fi_ubertest does not request it.
class TargetCountersTest : public AtomicTest, public ::testing::WithParamInterface<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Caps, TargetCountersTest, ::testing::Values(0, FI_RMA_EVENT));

TEST_P(TargetCountersTest, EachKindOfOperationIsCounted) {
  NodeOptions options = with_atomics();
  options.caps |= GetParam();
  NodeOptions target = options;
  target.is_enabled = false;
  a = std::make_unique<Node>(options);
  b = std::make_unique<Node>(target);
  fi_cntr_attr attr{};
  fid_cntr *reads = nullptr, *writes = nullptr;
  ASSERT_EQ(fi_cntr_open(b->domain, &attr, &reads, nullptr), 0);
  ASSERT_EQ(fi_cntr_open(b->domain, &attr, &writes, nullptr), 0);
  ASSERT_EQ(fi_ep_bind(b->ep, &reads->fid, FI_REMOTE_READ), 0);
  ASSERT_EQ(fi_ep_bind(b->ep, &writes->fid, FI_REMOTE_WRITE), 0);
  ASSERT_EQ(fi_enable(b->ep), 0);
  to_b = a->insert(b->name());
  register_memory();
  uint64_t operand = 1, old = 0;
  const auto expect = [&](uint64_t read, uint64_t written) {
    EXPECT_EQ(next(a->tx_cq).err, 0);
    EXPECT_TRUE(run_until([&] {
      return fi_cntr_read(reads) == read && fi_cntr_read(writes) == written;
    })) << fi_cntr_read(reads)
        << " and " << fi_cntr_read(writes);
  };
  ASSERT_EQ(fi_atomic(a->ep, &operand, 1, nullptr, to_b, base_, key_, FI_UINT64, FI_SUM, nullptr),
            0);
  expect(0, 1);
  ASSERT_EQ(fi_fetch_atomic(a->ep, &operand, 1, nullptr, &old, nullptr, to_b, base_, key_,
                            FI_UINT64, FI_SUM, nullptr),
            0);
  expect(1, 1);
  ASSERT_EQ(fi_compare_atomic(a->ep, &operand, 1, nullptr, &operand, nullptr, &old, nullptr, to_b,
                              base_, key_, FI_UINT64, FI_CSWAP, nullptr),
            0);
  expect(2, 1);
  b->close_endpoint();
  EXPECT_EQ(fi_close(&reads->fid), 0);
  EXPECT_EQ(fi_close(&writes->fid), 0);
}

// [SES-083, SES-168, LF-063, LF-120] Each misuse has its error; the memory is as it was.
TEST_F(AtomicTest, RefusesUnsupportedAtomics) {
  open_memory();
  uint64_t operand[40] = {1}, old[40] = {};
  const auto post = [&](size_t count, fi_datatype type, fi_op op) {
    return fi_atomic(a->ep, operand, count, nullptr, to_b, base_, key_, type, op, this);
  };
  EXPECT_EQ(post(0, FI_UINT64, FI_SUM), -FI_EINVAL);
  EXPECT_EQ(post(33, FI_UINT64, FI_SUM), -FI_EMSGSIZE);
  EXPECT_EQ(post(SIZE_MAX / 4, FI_UINT64, FI_SUM), -FI_EMSGSIZE);
  EXPECT_EQ(post(1, FI_DOUBLE, FI_BOR), -FI_EOPNOTSUPP);
  EXPECT_EQ(post(1, FI_UINT64, FI_CSWAP), -FI_EOPNOTSUPP);
  EXPECT_EQ(post(1, static_cast<fi_datatype>(99), FI_SUM), -FI_EOPNOTSUPP);
  EXPECT_EQ(post(1, FI_UINT64, static_cast<fi_op>(99)), -FI_EOPNOTSUPP);
  EXPECT_EQ(fi_compare_atomic(a->ep, operand, 2, nullptr, old, nullptr, old, nullptr, to_b, base_,
                              key_, FI_UINT64, FI_CSWAP, this),
            -FI_EMSGSIZE);
  fi_ioc iov{operand, 2}, result{old, 1};
  EXPECT_EQ(fi_fetch_atomicv(a->ep, &iov, nullptr, 1, &result, nullptr, 1, to_b, base_, key_,
                             FI_UINT64, FI_SUM, this),
            -FI_EINVAL);
  EXPECT_EQ(fi_atomic(a->ep, operand, 1, nullptr, 12345, base_, key_, FI_UINT64, FI_SUM, this),
            -FI_EADDRNOTAVAIL);
  size_t count = 0;
  EXPECT_EQ(fi_atomicvalid(a->ep, FI_UINT32, FI_SUM, &count), 0);
  EXPECT_EQ(count, 64u);
  EXPECT_EQ(fi_fetch_atomicvalid(a->ep, FI_UINT32, FI_ATOMIC_READ, &count), 0);
  EXPECT_EQ(fi_compare_atomicvalid(a->ep, FI_UINT32, FI_MSWAP, &count), 0);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(fi_atomicvalid(a->ep, FI_UINT32, FI_MSWAP, &count), -FI_EOPNOTSUPP);
  fi_atomic_attr attr{};
  EXPECT_EQ(fi_query_atomic(a->domain, FI_UINT32, FI_SUM, &attr, FI_TAGGED), -FI_EOPNOTSUPP);
  EXPECT_EQ(
      fi_query_atomic(a->domain, FI_UINT32, FI_SUM, &attr, FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC),
      -FI_EBADFLAGS);
  {
    fi_ioc elements{operand, 1};
    fi_rma_ioc remote{base_, 1, key_};
    fi_msg_atomic msg{&elements, nullptr, 1, to_b, &remote, 1, FI_UINT64, FI_SUM, this, 0};
    EXPECT_EQ(fi_atomicmsg(a->ep, &msg, FI_TAGGED), -FI_EOPNOTSUPP);
  }
  // Refused by the target.
  ASSERT_EQ(fi_atomic(a->ep, operand, 1, nullptr, to_b, base_ + 4, key_, FI_UINT64, FI_SUM, this),
            0);
  EXPECT_EQ(next(a->tx_cq).err, FI_EINVAL);  // AMO_UNALIGNED
  ASSERT_EQ(
      fi_atomic(a->ep, operand, 1, nullptr, to_b, base_ + 1024, key_, FI_UINT64, FI_SUM, this), 0);
  EXPECT_EQ(next(a->tx_cq).err, FI_EFAULT);  // BAD_ADDR
  ASSERT_EQ(fi_atomic(a->ep, operand, 1, nullptr, to_b, base_, key_ + 1, FI_UINT64, FI_SUM, this),
            0);
  EXPECT_EQ(next(a->tx_cq).err, FI_ENOKEY);
  EXPECT_EQ(memory_, (std::array<uint8_t, 1024>{}));
}

// [LF-061] Numbers that no operation has.
TEST_F(AtomicTest, UnknownOperationsAreNotOffered) {
  open_memory();
  constexpr int kAfterAll = FI_MSWAP + 2;  // libfabric 2 has one more than 1.17
  for (int op = kAfterAll; op < kAfterAll + 200; ++op) {
    fi_atomic_attr attr{};
    EXPECT_EQ(fi_query_atomic(a->domain, FI_UINT64, static_cast<fi_op>(op), &attr, 0),
              -FI_EOPNOTSUPP)
        << op;
  }
}

// [LF-068] An endpoint without the capability has no atomics.
TEST_F(AtomicTest, TheCapabilityIsNeeded) {
  open_memory(NodeOptions{});
  uint64_t operand = 1;
  EXPECT_EQ(fi_atomic(a->ep, &operand, 1, nullptr, to_b, base_, key_, FI_UINT64, FI_SUM, this),
            -FI_EOPNOTSUPP);
}

// [LF-089] In order: each operation sees the result of the one before.
TEST_F(AtomicTest, OrderedAtomics) {
  NodeOptions options = with_atomics();
  options.order = FI_ORDER_ATOMIC_WAW | FI_ORDER_ATOMIC_RAW;
  open_memory(options);
  uint64_t values[20];
  for (uint64_t i = 0; i < 20; ++i) {
    values[i] = i;
    ASSERT_EQ(fi_atomic(a->ep, &values[i], 1, nullptr, to_b, base_, key_, FI_UINT64,
                        FI_ATOMIC_WRITE, this),
              0);
  }
  uint64_t old = 0;
  ASSERT_EQ(fi_fetch_atomic(a->ep, nullptr, 1, nullptr, &old, nullptr, to_b, base_, key_, FI_UINT64,
                            FI_ATOMIC_READ, &old),
            0);
  for (int i = 0; i < 21; ++i) EXPECT_EQ(next(a->tx_cq).err, 0);
  EXPECT_EQ(old, 19u);
}

}  // namespace
}  // namespace uet::prov::test
