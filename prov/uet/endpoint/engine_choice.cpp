// Chooses the engine; see engine_choice.h.
#include "prov/uet/endpoint/engine_choice.h"

#include <algorithm>
#include <mutex>

namespace uet::prov {
namespace {

// Moves them to that engine. Returns the first one that stays where it is, or null.
WaitObject* move(const std::vector<WaitObject*>& objects, const DomainEngine& place) {
  for (WaitObject* object : objects) {
    const bool is_moved = object->seat().users == 0 && object->move_to(*place.progress);
    if (!is_moved && !object->seat().is_at(*place.progress)) return object;
  }
  return nullptr;
}

}  // namespace

DomainEngine* EngineChoice::engine_of(const WaitObject& object) const {
  const auto at = std::ranges::find_if(
      engines_, [&](const DomainEngine& engine) { return object.seat().is_at(*engine.progress); });
  return &*at;
}

// The engine of an object that other endpoints use; null: there is none.
DomainEngine* EngineChoice::wanted(const std::vector<WaitObject*>& objects) const {
  const auto at = std::ranges::find_if(
      objects, [](const WaitObject* object) { return object->seat().users > 0; });
  return at == objects.end() ? nullptr : engine_of(**at);
}

DomainEngine* EngineChoice::choose(const std::vector<WaitObject*>& objects, bool needs_first) {
  const std::lock_guard lock(engines_.set_up_lock());
  DomainEngine* place = at_;
  // Without a queue there is no hint; most endpoints are in the first engine.
  if (place == nullptr && (needs_first || objects.empty())) place = &engines_.first();
  if (place == nullptr) place = wanted(objects);
  const bool is_open = place == nullptr;
  if (is_open) place = &engines_.least_used();
  const WaitObject* stays = move(objects, *place);
  if (stays != nullptr && is_open) {
    // A thread waits on it already.
    place = engine_of(*stays);
    stays = move(objects, *place);
  }
  if (stays != nullptr || (needs_first && place != &engines_.first())) return nullptr;
  for (WaitObject* object : objects) {
    if (std::ranges::find(staying_, object) != staying_.end()) continue;
    staying_.push_back(object);
    ++object->seat().users;
  }
  if (at_ == nullptr) ++place->endpoints;
  at_ = place;
  return place;
}

void EngineChoice::release() {
  if (at_ == nullptr) return;
  const std::lock_guard lock(engines_.set_up_lock());
  for (WaitObject* object : staying_) --object->seat().users;
  --at_->endpoints;
}

}  // namespace uet::prov
