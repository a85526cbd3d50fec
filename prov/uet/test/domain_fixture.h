// A fabric and a domain on loopback, for tests of the objects below them. Sees libfabric only.
#pragma once

#include "prov/uet/api/compat.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace uet::prov::test {

class DomainFixture : public ::testing::Test {
 protected:
  // Opens what `change` makes of the hints (all capabilities, no mode).
  void open(const std::function<void(fi_info&)>& change = [](fi_info&) {}) {
    fi_info* hints = fi_allocinfo();
    ASSERT_NE(hints, nullptr);
    hints->fabric_attr->prov_name = strdup("uet");
    hints->ep_attr->type = FI_EP_RDM;
    change(*hints);
    const int found = fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", nullptr, FI_SOURCE, hints, &info);
    fi_freeinfo(hints);
    ASSERT_EQ(found, 0);
    ASSERT_EQ(fi_fabric(info->fabric_attr, &fabric, nullptr), 0);
    ASSERT_EQ(fi_domain(fabric, info, &domain, nullptr), 0);
  }

  void TearDown() override {
    if (domain != nullptr) {
      EXPECT_EQ(fi_close(&domain->fid), 0);
    }
    if (fabric != nullptr) {
      EXPECT_EQ(fi_close(&fabric->fid), 0);
    }
    fi_freeinfo(info);
  }

  fi_info* info = nullptr;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
};

}  // namespace uet::prov::test
