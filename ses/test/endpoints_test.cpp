// The table of endpoints and queues: opened, found by their names, closed. [SES-003]
#include "ses/endpoints.h"

#include "ses/test/parts.h"

namespace uet::ses::test {
namespace {

class EndpointsTest : public PartTest {
 protected:
  static EndpointName name(uint16_t ri, uint16_t pid = 7, uint32_t job = 0x102,
                           bool absolute = false) {
    EndpointName n;
    n.job = JobId(job);
    n.pid = PidOnFep(pid);
    n.ri = ResourceIndex(ri);
    n.absolute = absolute;
    return n;
  }
  Result<EndpointId> try_open(const EndpointName& name, const EndpointOptions& options = {}) {
    return endpoints_.open_endpoint(name, options, {}, {});
  }
  Endpoint& opened(const EndpointName& name) { return *endpoints_.get(*try_open(name)); }
  const Endpoint* found(uint16_t ri, uint32_t job = 0x102, bool absolute = false) const {
    return endpoints_.find(absolute, JobId(job), PidOnFep(7), ResourceIndex(ri));
  }
  const Endpoint* found_process(bool absolute = false) const {
    return endpoints_.find_process(absolute, JobId(0x102), PidOnFep(7));
  }
};

// [SES-005, SES-007] Job and index 0 name nothing, and the fields have 24 and 12 bits.
TEST_F(EndpointsTest, ANameFitsItsFields) {
  for (const EndpointName& n :
       {name(0), name(4096), name(1, 4096), name(1, 7, 0), name(1, 7, 1 << 24)}) {
    EXPECT_EQ(try_open(n).error(), Errc::invalid);
  }
  EXPECT_TRUE(try_open(name(4095, 4095, (1 << 24) - 1)).ok());
  EXPECT_EQ(try_open(name(4095, 4095, (1 << 24) - 1)).error(), Errc::exists);
}

// [SES-003, SES-002] A relative name has a job; an absolute one is found whatever the job is.
TEST_F(EndpointsTest, AnEndpointIsFoundByItsName) {
  const Endpoint& relative = opened(name(3));
  const Endpoint& absolute = opened(name(3, 7, 0x102, true));
  EXPECT_EQ(found(3), &relative);
  EXPECT_EQ(found(3, 9), nullptr);
  EXPECT_EQ(found(4), nullptr);
  EXPECT_EQ(found(3, 9, true), &absolute);
}

// [SES-008] Any endpoint of a process, while it has one.
TEST_F(EndpointsTest, AProcessIsFoundWhileItHasAnEndpoint) {
  Endpoint* all[3];
  for (uint16_t i = 0; i < 3; ++i) all[i] = &opened(name(static_cast<uint16_t>(i + 1)));
  EXPECT_EQ(found_process(true), nullptr);
  for (Endpoint* const ep : {all[0], all[2], all[1]}) {
    ASSERT_NE(found_process(), nullptr);
    EXPECT_TRUE(found_process()->is_open);
    endpoints_.close(*ep);
  }
  EXPECT_EQ(found_process(), nullptr);
}

// [SES-111] A job is known while an endpoint with a relative name is of it.
TEST_F(EndpointsTest, AJobIsKnownByItsEndpoints) {
  Endpoint& first = opened(name(1));
  Endpoint& second = opened(name(2));
  opened(name(1, 7, 5, true));
  EXPECT_TRUE(endpoints_.is_known(kJob));
  EXPECT_FALSE(endpoints_.is_known(JobId(5)));
  endpoints_.close(first);
  EXPECT_TRUE(endpoints_.is_known(kJob));
  endpoints_.close(second);
  EXPECT_FALSE(endpoints_.is_known(kJob));
}

// A handle of an endpoint or queue that was closed names nothing, though its slot is used again.
TEST_F(EndpointsTest, OldHandlesNameNothing) {
  const EndpointId old = *try_open(name(1));
  const ReceiveQueueId queue = endpoints_.get(old)->queue->id;
  endpoints_.close(*endpoints_.get(old));
  EXPECT_EQ(endpoints_.get(old), nullptr);
  EXPECT_EQ(endpoints_.get(queue), nullptr);
  const EndpointId next = *try_open(name(1));
  EXPECT_NE(next, old);
  EXPECT_EQ(endpoints_.get(old), nullptr);
  EXPECT_NE(endpoints_.get(next)->queue->id, queue);
}

// As many as the configuration says.
TEST_F(EndpointsTest, EndpointsHaveALimit) {
  for (uint16_t i = 1; i <= res_.config.endpoints; ++i) ASSERT_TRUE(try_open(name(i)).ok());
  EXPECT_EQ(try_open(name(100)).error(), Errc::again);
  EXPECT_EQ(found(100), nullptr);
}

// A shared queue belongs to those that name it, and stays when they close.
TEST_F(EndpointsTest, AQueueIsShared) {
  const ReceiveQueueId queue = *endpoints_.open_shared(4);
  EXPECT_EQ(endpoints_.open_shared(0).error(), Errc::invalid);
  EndpointOptions options;
  options.shared = queue;
  Endpoint& first = *endpoints_.get(*try_open(name(1), options));
  Endpoint& second = *endpoints_.get(*try_open(name(2), options));
  EXPECT_EQ(first.queue, second.queue);
  endpoints_.close(first);
  endpoints_.close(second);
  ASSERT_NE(endpoints_.get(queue), nullptr);
  endpoints_.close(*endpoints_.get(queue));
  EXPECT_EQ(try_open(name(1), options).error(), Errc::invalid) << "it is gone";
}

}  // namespace
}  // namespace uet::ses::test
