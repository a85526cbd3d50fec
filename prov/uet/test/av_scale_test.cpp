// Cost of an address vector with many entries: ten times as many take about ten times as long, for
// each way to insert and remove.
#include "prov/uet/test/cost.h"
#include "prov/uet/test/domain_fixture.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace uet::prov {
namespace {

using test::cost_ns;

class AvScaleTest : public test::DomainFixture {
 protected:
  using Texts = std::vector<std::string>;

  void SetUp() override {
    open([](fi_info& h) { h.addr_format = FI_ADDR_STR; });
  }
  fid_av* new_av() {
    fi_av_attr attr{};
    attr.type = FI_AV_TABLE;
    fid_av* av = nullptr;
    EXPECT_EQ(fi_av_open(domain, &attr, &av, nullptr), 0);
    return av;
  }
  // Different senders at many addresses.
  static Texts senders(size_t count) {
    Texts texts;
    for (size_t i = 0; i < count; ++i) {
      texts.push_back("fi_addr_uet://127." + std::to_string(1 + i / 62500) + "." +
                      std::to_string(i / 250 % 250) + "." + std::to_string(1 + i % 250) + "/1/1/" +
                      std::to_string(i));
    }
    return texts;
  }
  // One sender, many times.
  static Texts one_sender(size_t count) { return Texts(count, "fi_addr_uet://127.0.0.9/1/1/7"); }

  static std::vector<fi_addr_t> insert(fid_av* av, const Texts& texts) {
    std::vector<const char*> pointers;
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    std::vector<fi_addr_t> out(texts.size());
    EXPECT_EQ(fi_av_insert(av, pointers.data(), pointers.size(), out.data(), 0, nullptr),
              static_cast<int>(texts.size()));
    return out;
  }

  // Linear: 10. Quadratic: 100. The best of several excludes the delays of a loaded machine.
  static void expect_linear(const std::function<int64_t(size_t count)>& cost) {
    cost(kMany);  // the tables of the domain have grown
    int64_t few = INT64_MAX / 64;
    int64_t many = INT64_MAX;
    for (int i = 0; i < 10 && many >= 35 * few; ++i) {
      few = std::min(few, cost(kFew));
      many = std::min(many, cost(kMany));
    }
    EXPECT_LT(many, 35 * few);
  }

  static constexpr size_t kFew = 4000;
  static constexpr size_t kMany = 40000;
};

TEST_F(AvScaleTest, RemovingSendersOneByOneIsLinear) {
  expect_linear([this](size_t count) {
    fid_av* const av = new_av();
    std::vector<fi_addr_t> all = insert(av, senders(count));
    const int64_t ns = cost_ns([&] {
      for (fi_addr_t& one : all) EXPECT_EQ(fi_av_remove(av, &one, 1, 0), 0);
    });
    EXPECT_EQ(fi_close(&av->fid), 0);
    return ns;
  });
}

TEST_F(AvScaleTest, RemovingASetInOneCallIsLinear) {
  expect_linear([this](size_t count) {
    fid_av* const av = new_av();
    std::vector<fi_addr_t> all = insert(av, senders(count));
    std::reverse(all.begin(), all.end());
    const int64_t ns = cost_ns([&] { EXPECT_EQ(fi_av_remove(av, all.data(), all.size(), 0), 0); });
    EXPECT_EQ(fi_close(&av->fid), 0);
    return ns;
  });
}

TEST_F(AvScaleTest, ClosingIsLinear) {
  for (const auto texts : {senders, one_sender}) {
    expect_linear([&](size_t count) {
      fid_av* const av = new_av();
      insert(av, texts(count));
      return cost_ns([&] { EXPECT_EQ(fi_close(&av->fid), 0); });
    });
  }
}

// The oldest is removed first, so that each time another takes its place.
TEST_F(AvScaleTest, RemovingEntriesOfOneSenderIsLinear) {
  expect_linear([this](size_t count) {
    fid_av* const av = new_av();
    std::vector<fi_addr_t> all = insert(av, one_sender(count));
    const int64_t ns = cost_ns([&] { EXPECT_EQ(fi_av_remove(av, all.data(), all.size(), 0), 0); });
    EXPECT_EQ(fi_close(&av->fid), 0);
    return ns;
  });
}

TEST_F(AvScaleTest, InsertingIsLinear) {
  for (const auto texts : {senders, one_sender}) {
    expect_linear([&](size_t count) {
      fid_av* const av = new_av();
      const Texts all = texts(count);
      const int64_t ns = cost_ns([&] { insert(av, all); });
      EXPECT_EQ(fi_close(&av->fid), 0);
      return ns;
    });
  }
}

// fi_av_insertsym names a range of nodes and services.
TEST_F(AvScaleTest, SymmetricInsertionIsLinear) {
  expect_linear([this](size_t count) {
    fid_av* const av = new_av();
    std::vector<fi_addr_t> out(count);
    const int64_t ns = cost_ns([&] {
      EXPECT_EQ(fi_av_insertsym(av, "127.5.0.1", count / 4, "64", 4, out.data(), 0, nullptr),
                static_cast<int>(count));
      EXPECT_EQ(fi_av_remove(av, out.data(), count, 0), 0);
    });
    EXPECT_EQ(fi_close(&av->fid), 0);
    return ns;
  });
}

}  // namespace
}  // namespace uet::prov
