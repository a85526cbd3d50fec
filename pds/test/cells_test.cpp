// The cells of TFC alone: which packets of a PDC have some as a source, and what it holds and
// grants as a destination. A packet of 1,092 nominal octets takes 5 cells of 256: 1,052 octets and
// 64 of overhead. The buffer has 12 cells, room for two packets.
#include "pds/cells.h"

#include "pds/test/part.h"

namespace uet::pds::part {
namespace {

constexpr uint32_t kBytes = 1092;  // nominal
constexpr uint32_t kCells = 5;
constexpr uint32_t kFirstCells = 12;

cms::Config tfc() {
  cms::Config c;
  c.algorithm = cms::Algorithm::tfc;
  c.mtu_bytes = kBytes;
  c.tfc.cell_bytes = 256;
  c.tfc.packet_overhead_bytes = 64;
  c.tfc.first_bytes = kFirstCells * 256;
  return c;
}

class CellsTest : public PartTest {
 protected:
  CellsTest() { EXPECT_TRUE(cells_.create(arena_, tfc()).ok()); }

  Pdc& source(Mode mode = Mode::rud) {
    Pdc& pdc = initiator(mode);
    pdc.context = &context_;
    return pdc;
  }
  static TxSlot packet(SlotKind kind = SlotKind::data) {
    TxSlot slot;
    slot.kind = kind;
    slot.bytes = kBytes;
    return slot;
  }
  // Of the context.
  int32_t free_cells() { return context_.ccc.cells()->free_cells(); }
  cms::CreditNews granted(Pdc& pdc, uint32_t cells) {
    return cells_.on_credit(pdc, {.credit = kFirstCells + cells, .at = kNow});
  }

  Cells cells_;
  Context context_{ContextKey{}, tfc(), 0, res_.rng, senders_};
};

// [CMS-146] Cells have a size, and the buffer takes at least one packet; other algorithms take no
// memory.
TEST_F(CellsTest, ABufferHoldsAPacketOrIsRefused) {
  const auto made = [this](const cms::Config& config) {
    Cells cells;
    const Result<void> result = cells.create(arena_, config);
    EXPECT_EQ(cells.is_on(), result.ok() && config.algorithm == cms::Algorithm::tfc);
    return result.ok() ? Errc{} : result.error();
  };
  cms::Config config = tfc();
  EXPECT_EQ(made(config), Errc{});
  config.tfc.first_bytes = kCells * 256;
  EXPECT_EQ(made(config), Errc{});
  config.tfc.first_bytes = (kCells - 1) * 256;
  EXPECT_EQ(made(config), Errc::invalid);
  config.algorithm = cms::Algorithm::nscc;
  EXPECT_EQ(made(config), Errc{});
  config = tfc();
  config.tfc.cell_bytes = 0;
  EXPECT_EQ(made(config), Errc::invalid);
}

// [CMS-147, CMS-193] A data packet takes its cells once, however often it is sent; control packets
// take none.
TEST_F(CellsTest, APacketThatIsSentTakesCellsOnce) {
  Pdc& pdc = source();
  TxSlot control = packet(SlotKind::close_cmd);
  cells_.on_sent(pdc, control);
  EXPECT_FALSE(control.has_cells);
  EXPECT_EQ(free_cells(), 12);
  EXPECT_FALSE(cells_.is_owed(pdc));
  TxSlot data = packet();
  cells_.on_sent(pdc, data);
  EXPECT_TRUE(data.has_cells);
  EXPECT_EQ(free_cells(), 7);
  EXPECT_TRUE(cells_.is_owed(pdc));
  cells_.on_sent(pdc, data);
  EXPECT_EQ(free_cells(), 7);
}

// [CMS-147] A lost packet of RUD never took cells, because those behind it did not wait for it; on
// ROD it keeps them. A packet that is given up returns them on both.
TEST_F(CellsTest, ALostPacketReturnsItsCellsOnRudOnly) {
  for (const Mode mode : {Mode::rud, Mode::rod}) {
    Pdc& pdc = source(mode);
    TxSlot lost = packet(), given_up = packet();
    cells_.on_sent(pdc, lost);
    cells_.on_sent(pdc, given_up);
    EXPECT_EQ(free_cells(), 2);
    cells_.on_lost(pdc, lost);
    EXPECT_EQ(lost.has_cells, mode == Mode::rod);
    EXPECT_EQ(free_cells(), mode == Mode::rod ? 2 : 7);
    cells_.on_lost(pdc, lost);
    EXPECT_EQ(free_cells(), mode == Mode::rod ? 2 : 7) << "once";
    cells_.on_given_up(pdc, given_up);
    EXPECT_FALSE(given_up.has_cells);
    EXPECT_EQ(free_cells(), mode == Mode::rod ? 7 : 12);
    cells_.on_ended(pdc);
    EXPECT_EQ(free_cells(), 12);
    EXPECT_FALSE(cells_.is_owed(pdc));
  }
}

// [CMS-147, CMS-193] A data packet that was taken for lost and arrived has its cells again, and
// only such a one.
TEST_F(CellsTest, AnArrivedPacketHasItsCells) {
  Pdc& pdc = source();
  TxSlot slot = packet();
  cells_.on_sent(pdc, slot);
  cells_.on_arrived(pdc, slot);
  EXPECT_EQ(free_cells(), 7);
  cells_.on_lost(pdc, slot);
  cells_.on_arrived(pdc, slot);
  EXPECT_TRUE(slot.has_cells);
  EXPECT_EQ(free_cells(), 7);
  TxSlot control = packet(SlotKind::close_cmd);
  cells_.on_arrived(pdc, control);
  EXPECT_EQ(free_cells(), 7);
}

// [CMS-022, CMS-147] Credit counts up for each PDC; of two PDCs each gets its own.
TEST_F(CellsTest, CreditIsThatOfOnePdc) {
  Pdc& first = source();
  Pdc& second = source();
  TxSlot a = packet(), b = packet();
  cells_.on_sent(first, a);
  cells_.on_sent(second, b);
  EXPECT_EQ(granted(first, kCells), cms::CreditNews::taken);
  EXPECT_FALSE(cells_.is_owed(first));
  EXPECT_TRUE(cells_.is_owed(second));
  EXPECT_EQ(free_cells(), 7);
  EXPECT_EQ(granted(first, 2 * kCells), cms::CreditNews::impossible);
  EXPECT_EQ(granted(second, kCells), cms::CreditNews::taken);
  EXPECT_EQ(free_cells(), 12);
}

// [CMS-146] Only cells that left the buffer are granted again; cells of a dropped packet are
// not, because the source sends it again.
TEST_F(CellsTest, ADestinationGrantsWhatHasLeftTheBuffer) {
  Pdc& pdc = target();
  EXPECT_EQ(cells_.credit(pdc), 12u);
  EXPECT_TRUE(cells_.keep(pdc, kBytes));
  EXPECT_TRUE(cells_.keep(pdc, kBytes));
  EXPECT_FALSE(cells_.keep(pdc, kBytes)) << "two cells are left";
  cells_.free(pdc, kBytes, /*was_kept=*/false);
  EXPECT_EQ(cells_.credit(pdc), 17u);
  EXPECT_FALSE(cells_.keep(pdc, kBytes)) << "it was never kept";
  cells_.drop(pdc, kBytes);
  EXPECT_EQ(cells_.credit(pdc), 17u);
  EXPECT_TRUE(cells_.keep(pdc, kBytes));
  cells_.free(pdc, kBytes, /*was_kept=*/true);
  EXPECT_EQ(cells_.credit(pdc), 22u);
  EXPECT_TRUE(cells_.keep(pdc, kBytes));
  cells_.forget(pdc);
  EXPECT_EQ(cells_.credit(pdc), 12u);
  EXPECT_TRUE(cells_.keep(pdc, kBytes));
}

// [CMS-146] Without TFC every packet may wait, and nothing is counted.
TEST_F(CellsTest, WithoutTfcNothingIsCounted) {
  Cells off;
  ASSERT_TRUE(off.create(arena_, fixed()).ok());
  Pdc& pdc = target();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(off.keep(pdc, kBytes));
  off.drop(pdc, kBytes);
  TxSlot slot = packet();
  off.on_arrived(pdc, slot);
  off.on_given_up(pdc, slot);
  off.on_ended(pdc);
  off.forget(pdc);
  EXPECT_FALSE(slot.has_cells);
}

}  // namespace
}  // namespace uet::pds::part
