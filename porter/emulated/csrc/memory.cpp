#include "memory.h"

#include "trace.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/alloc_cpu.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <mutex>

namespace emulated {
namespace {

using c10::CachingAllocator::format_size;
using c10::CachingAllocator::StatType;
using Stats = c10::CachingDeviceAllocator::DeviceStats;

constexpr size_t kSegment = 2 << 20; // the caching allocator's granularity on the real device

struct DeviceMemory {
  Stats stats;
  size_t limit = total_memory();
};

std::mutex mutex;
std::array<DeviceMemory, kMaxDevices>& devices() {
  // Leaked on purpose: tensors can outlive static destructors.
  static auto* all = new std::array<DeviceMemory, kMaxDevices>;
  return *all;
}

c10::CachingAllocator::Stat& aggregate(c10::CachingAllocator::StatArray& stats) {
  return stats[static_cast<size_t>(StatType::AGGREGATE)];
}

size_t rounded(int64_t bytes) {
  return (static_cast<size_t>(bytes) + kSegment - 1) / kSegment * kSegment;
}

// Like a caching allocator, reserved memory follows allocated memory upwards and comes down only
// with emptyCache.
void grow_reserved(Stats& stats) {
  const auto needed = static_cast<int64_t>(rounded(aggregate(stats.allocated_bytes).current));
  auto& reserved = aggregate(stats.reserved_bytes);
  if (needed > reserved.current) {
    reserved.increase(needed - reserved.current);
    ++stats.num_device_alloc;
  }
}

void account(c10::DeviceIndex index, size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex);
  auto& [stats, limit] = devices().at(index);
  const auto allocated = static_cast<size_t>(aggregate(stats.allocated_bytes).current);
  if (bytes > limit || allocated > limit - bytes) {
    ++stats.num_ooms;
    TORCH_CHECK_WITH(
        OutOfMemoryError, false, EMULATED_NAME " out of memory. Tried to allocate ", format_size(bytes),
        " (" EMULATED_NAME " ", int{index}, "; ", format_size(total_memory()), " total capacity; ",
        format_size(allocated), " already allocated; ",
        format_size(limit > allocated ? limit - allocated : 0), " free). Emulated device.");
  }
  aggregate(stats.allocated_bytes).increase(bytes);
  aggregate(stats.requested_bytes).increase(bytes);
  aggregate(stats.active_bytes).increase(bytes);
  aggregate(stats.allocation).increase(1);
  aggregate(stats.active).increase(1);
  grow_reserved(stats);
}

void release(c10::DeviceIndex index, size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex);
  auto& stats = devices().at(index).stats;
  aggregate(stats.allocated_bytes).decrease(bytes);
  aggregate(stats.requested_bytes).decrease(bytes);
  aggregate(stats.active_bytes).decrease(bytes);
  aggregate(stats.allocation).decrease(1);
  aggregate(stats.active).decrease(1);
}

struct Block {
  void* data;
  size_t bytes;
  c10::DeviceIndex index;
  c10::intrusive_ptr<c10::StorageImpl> adopted;

  static void destroy(void* context) {
    auto* block = static_cast<Block*>(context);
    release(block->index, block->bytes);
    if (!block->adopted) {
      c10::free_cpu(block->data);
    }
    delete block;
  }

  c10::DataPtr share() {
    return {data, this, &Block::destroy, c10::Device(kDevice, index)};
  }
};

struct DeviceAllocator final : c10::DeviceAllocator {
  c10::DataPtr allocate(size_t bytes) override {
    use_device();
    const auto index = current_device();
    if (bytes == 0) {
      return {nullptr, c10::Device(kDevice, index)};
    }
    account(index, bytes);
    return (new Block{c10::alloc_cpu(bytes), bytes, index, {}})->share();
  }

  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  bool initialized() override {
    return is_initialized();
  }

  void emptyCache(c10::MempoolId_t) override {
    trace("empty cache");
    const std::lock_guard<std::mutex> lock(mutex);
    for (auto& device : devices()) {
      auto& reserved = aggregate(device.stats.reserved_bytes);
      const auto needed =
          static_cast<int64_t>(rounded(aggregate(device.stats.allocated_bytes).current));
      reserved.decrease(reserved.current - needed);
    }
  }

  void recordStream(const c10::DataPtr&, c10::Stream) override {}

  Stats getDeviceStats(c10::DeviceIndex index) override {
    check_device(index);
    const std::lock_guard<std::mutex> lock(mutex);
    return devices().at(index).stats;
  }

  void resetAccumulatedStats(c10::DeviceIndex index) override {
    reset(index, &c10::CachingAllocator::Stat::reset_accumulated);
  }

  void resetPeakStats(c10::DeviceIndex index) override {
    reset(index, &c10::CachingAllocator::Stat::reset_peak);
  }

  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex index) override {
    const auto stats = getDeviceStats(index);
    const auto reserved = static_cast<size_t>(
        stats.reserved_bytes[static_cast<size_t>(StatType::AGGREGATE)].current);
    return {total_memory() - std::min(reserved, total_memory()), total_memory()};
  }

 private:
  static void reset(c10::DeviceIndex index, void (c10::CachingAllocator::Stat::*method)()) {
    check_device(index);
    trace("reset memory statistics ", c10::Device(kDevice, index));
    const std::lock_guard<std::mutex> lock(mutex);
    auto& stats = devices().at(index).stats;
    for (auto* each : {&stats.allocation, &stats.active, &stats.allocated_bytes,
                       &stats.reserved_bytes, &stats.active_bytes, &stats.requested_bytes}) {
      (aggregate(*each).*method)();
    }
  }
};

std::map<const void*, size_t>& pinned_blocks() {
  static auto* blocks = new std::map<const void*, size_t>;
  return *blocks;
}

struct PinnedAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    void* data = c10::alloc_cpu(bytes);
    if (data != nullptr) {
      const std::lock_guard<std::mutex> lock(mutex);
      pinned_blocks().emplace(data, bytes);
    }
    return {data, data, &PinnedAllocator::free, c10::Device(c10::DeviceType::CPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override {
    return &PinnedAllocator::free;
  }

  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  static void free(void* data) {
    if (data != nullptr) {
      const std::lock_guard<std::mutex> lock(mutex);
      pinned_blocks().erase(data);
    }
    c10::free_cpu(data);
  }
};

DeviceAllocator allocator;
PinnedAllocator host_allocator;

REGISTER_ALLOCATOR(kDevice, &allocator)

} // namespace

c10::DataPtr adopt(c10::intrusive_ptr<c10::StorageImpl> cpu, c10::DeviceIndex index) {
  use_device();
  const size_t bytes = cpu->nbytes();
  void* data = cpu->mutable_data();
  if (bytes == 0) {
    return {nullptr, c10::Device(kDevice, index)};
  }
  account(index, bytes);
  return (new Block{data, bytes, index, std::move(cpu)})->share();
}

void resize(const c10::Storage& storage, size_t bytes) {
  const auto old = storage.nbytes();
  const c10::DeviceGuard guard(storage.device());
  auto data = allocator.allocate(bytes);
  if (old > 0 && bytes > 0) {
    allocator.copy_data(data.get(), storage.data(), std::min(old, bytes));
  }
  storage.set_data_ptr_noswap(std::move(data));
  storage.set_nbytes(bytes);
}

c10::Allocator* device_allocator() {
  return &allocator;
}

c10::Allocator* pinned_allocator() {
  return &host_allocator;
}

bool is_pinned(const void* pointer) {
  const std::lock_guard<std::mutex> lock(mutex);
  auto block = pinned_blocks().upper_bound(pointer);
  if (block == pinned_blocks().begin()) {
    return false;
  }
  --block;
  return pointer < static_cast<const char*>(block->first) + block->second;
}

size_t total_memory() {
  static const size_t total = [] {
    const char* text = std::getenv(EMULATED_VARIABLE("MEMORY"));
    return text == nullptr ? size_t{64} << 30 : std::strtoull(text, nullptr, 10);
  }();
  return total;
}

void set_memory_limit(c10::DeviceIndex index, size_t bytes) {
  check_device(index);
  const std::lock_guard<std::mutex> lock(mutex);
  devices().at(index).limit = bytes;
}

size_t memory_limit(c10::DeviceIndex index) {
  check_device(index);
  const std::lock_guard<std::mutex> lock(mutex);
  return devices().at(index).limit;
}

} // namespace emulated
