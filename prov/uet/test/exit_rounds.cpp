// How processes end that leave the provider in use: each round starts this program again in one of
// the roles below and looks at how it ends. It must end by itself, with status 0.
//   exit_rounds [ROUNDS [ROLE]]    default: 50 rounds, all roles in turn
//   exit_rounds --role ROLE        one process in that role
// Built twice: linked with libfabric, and loading it with dlopen. [ABI-015, architecture 5]
#include "prov/uet/api/compat.h"

#include <dlfcn.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

#ifdef __SANITIZE_THREAD__
// ThreadSanitizer reports each thread that ended and was not joined when the process ends. Here a
// process may end while another of its threads is in fi_close() and about to join the helper.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options() {
  return "report_thread_leaks=0";
}
#endif

namespace {

using Clock = std::chrono::steady_clock;

void must(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "exit_rounds: %s failed\n", what);
  _exit(2);
}

void* library;  // libfabric, whether this program is linked with it or not

template <class Fn>
Fn* symbol(const char* name) {
  auto* const found = reinterpret_cast<Fn*>(dlsym(library, name));
  must(found != nullptr, name);
  return found;
}

// A domain, one endpoint, its queue and a message on its way to itself, again and again.
struct Node {
  explicit Node(fi_wait_obj wait) {
    auto* const dupinfo = symbol<decltype(fi_dupinfo)>("fi_dupinfo");
    fi_info* hints = dupinfo(nullptr);
    hints->caps = FI_MSG;
    hints->mode = FI_CONTEXT;
    hints->ep_attr->type = FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup("uet");
    must(symbol<decltype(fi_getinfo)>("fi_getinfo")(FI_VERSION(1, 17), "127.0.0.1", nullptr,
                                                    FI_SOURCE, hints, &info) == 0,
         "fi_getinfo");
    symbol<decltype(fi_freeinfo)>("fi_freeinfo")(hints);
    must(symbol<decltype(fi_fabric)>("fi_fabric")(info->fabric_attr, &fabric, nullptr) == 0,
         "fi_fabric");
    must(fi_domain(fabric, info, &domain, nullptr) == 0, "fi_domain");
    fi_av_attr av_attr{};
    must(fi_av_open(domain, &av_attr, &av, nullptr) == 0, "fi_av_open");
    fi_cq_attr cq_attr{};
    cq_attr.format = FI_CQ_FORMAT_MSG;
    cq_attr.wait_obj = wait;
    must(fi_cq_open(domain, &cq_attr, &cq, nullptr) == 0, "fi_cq_open");
    must(fi_endpoint(domain, info, &ep, nullptr) == 0, "fi_endpoint");
    must(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV) == 0, "fi_ep_bind");
    must(fi_ep_bind(ep, &av->fid, 0) == 0, "fi_ep_bind");
    must(fi_enable(ep) == 0, "fi_enable");
    char name[128];
    size_t length = sizeof name;
    must(fi_getname(&ep->fid, name, &length) == 0, "fi_getname");
    must(fi_av_insert(av, name, 1, &self, 0, nullptr) == 1, "fi_av_insert");
    post();
  }
  void post() {
    while (fi_recv(ep, to, sizeof to, nullptr, FI_ADDR_UNSPEC, nullptr) == -FI_EAGAIN) {
    }
    while (fi_send(ep, from, sizeof from, nullptr, self, nullptr) == -FI_EAGAIN) {
    }
  }
  // Counts completions; every second one is of a receive, and the next message goes.
  void take(ssize_t read) {
    if (read <= 0) return;
    const std::lock_guard lock(mutex);
    messages += static_cast<uint32_t>(read);
    while (posted <= messages / 2) {
      post();
      ++posted;
    }
  }
  void close() {
    must(fi_close(&ep->fid) == 0, "fi_close of the endpoint");
    must(fi_close(&cq->fid) == 0, "fi_close of the queue");
    must(fi_close(&av->fid) == 0, "fi_close of the vector");
    must(fi_close(&domain->fid) == 0, "fi_close of the domain");
    must(fi_close(&fabric->fid) == 0, "fi_close of the fabric");
  }

  fi_info* info = nullptr;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  fid_av* av = nullptr;
  fid_cq* cq = nullptr;
  fid_ep* ep = nullptr;
  fi_addr_t self = 0;
  std::mutex mutex;  // two threads may take from one queue
  uint32_t posted = 1;
  std::atomic<uint32_t> messages{0};
  char from[5000] = {};
  char to[5000] = {};
};

void poll_queue(Node* node) {
  for (fi_cq_msg_entry entries[4];;) node->take(fi_cq_read(node->cq, entries, 4));
}

void sleep_on_queue(Node* node) {
  for (fi_cq_msg_entry entries[4];;) {
    node->take(fi_cq_sread(node->cq, entries, 4, nullptr, -1));
  }
}

void sleep_on_descriptor(Node* node) {
  int fd = -1;
  must(fi_control(&node->cq->fid, FI_GETWAIT, &fd) == 0, "FI_GETWAIT");
  fid* const fids[] = {&node->cq->fid};
  for (fi_cq_msg_entry entries[4];;) {
    pollfd waiting{fd, POLLIN, 0};
    if (fi_trywait(node->fabric, const_cast<fid**>(fids), 1) == 0) ::poll(&waiting, 1, -1);
    node->take(fi_cq_read(node->cq, entries, 4));
  }
}

// Runs `loop` in a separate thread that never ends; returns when messages have gone round.
Node& start(void (*loop)(Node*), fi_wait_obj wait = FI_WAIT_NONE) {
  auto* const node = new Node(wait);
  std::thread(loop, node).detach();
  while (node->messages < 20) std::this_thread::yield();
  return *node;
}

// The objects stay reachable, so that a leak checker has nothing to say of them.
Node* kept[4];

void end_while_polling() { kept[0] = &start(poll_queue); }

void end_while_sleeping() { kept[0] = &start(sleep_on_queue, FI_WAIT_UNSPEC); }

void end_while_sleeping_on_descriptor() { kept[0] = &start(sleep_on_descriptor, FI_WAIT_FD); }

void end_with_many_threads() {
  kept[0] = &start(poll_queue);
  kept[1] = &start(sleep_on_queue, FI_WAIT_UNSPEC);
  std::thread(sleep_on_queue, kept[1]).detach();
  std::thread([] {
    const Node& other = *kept[0];
    for (fid_domain* domain = nullptr;;) {
      must(fi_domain(other.fabric, other.info, &domain, nullptr) == 0, "fi_domain");
      must(fi_close(&domain->fid) == 0, "fi_close of a domain");
    }
  }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

// The loop itself ends the process, and the main thread still reads the same queue.
void end_from_the_loop() {
  kept[0] = new Node(FI_WAIT_UNSPEC);
  std::thread([] {
    for (fi_cq_msg_entry entries[4];;) {
      kept[0]->take(fi_cq_read(kept[0]->cq, entries, 4));
      if (kept[0]->messages > 20) std::exit(0);
    }
  }).detach();
  for (fi_cq_msg_entry entry;;) static_cast<void>(fi_cq_sread(kept[0]->cq, &entry, 0, nullptr, 1));
}

// exit() in the handler of a signal that may find its thread inside the provider.
[[maybe_unused]] void end_from_a_signal() {
  static pthread_t poller;
  kept[0] = new Node(FI_WAIT_NONE);
  std::signal(SIGUSR1, [](int) { std::exit(0); });
  poller = pthread_self();
  std::thread([] {
    while (kept[0]->messages < 20) std::this_thread::yield();
    pthread_kill(poller, SIGUSR1);
  }).detach();
  poll_queue(kept[0]);
}

// A handler of exit() that was registered before libfabric was loaded comes after most others.
void end_and_close_late() {
  static auto late = [] {
    for (fi_cq_msg_entry entries[4]; kept[0]->messages < 40;) {
      kept[0]->take(fi_cq_read(kept[0]->cq, entries, 4));
    }
    kept[0]->close();
  };
  std::atexit([] { late(); });
  kept[0] = new Node(FI_WAIT_NONE);
}

// A static object closes everything when it is destroyed.
struct Owner {
  ~Owner() {
    if (node == nullptr) return;
    node->close();
    delete node;
  }
  Node* node = nullptr;
};
Owner owner;
void end_with_a_static_owner() {
  owner.node = new Node(FI_WAIT_NONE);
  end_while_polling();
}

// Children of a process in the midst of traffic end as any other, and disturb nothing.
void end_of_children() {
  Node& node = start(poll_queue);
  kept[0] = &node;
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
      fi_cq_msg_entry entry;
      must(fi_cq_read(node.cq, &entry, 1) == -FI_EOPBADSTATE, "the refusal of a call in a child");
      std::exit(0);
    }
    int status = -1;
    must(waitpid(child, &status, 0) == child && status == 0, "a child");
    const uint32_t before = node.messages;
    while (node.messages < before + 20) std::this_thread::yield();
  }
}

// libfabric is unloaded, as far as its user can, with a domain open and in use.
void end_after_dlclose() {
  end_while_polling();
  must(dlclose(library) == 0, "dlclose");
}

// Nothing was closed, and no thread is there.
void end_with_all_open() { kept[0] = new Node(FI_WAIT_NONE); }

void end_quickly() {
  end_while_polling();
  std::quick_exit(0);
}

struct Role {
  const char* name;
  void (*run)();
};
constexpr Role kRoles[] = {
    {"polling", end_while_polling},
    {"sleeping", end_while_sleeping},
    {"descriptor", end_while_sleeping_on_descriptor},
    {"many", end_with_many_threads},
    {"loop", end_from_the_loop},
#ifndef __SANITIZE_THREAD__  // which reports every exit() in a handler, whatever it calls
    {"signal", end_from_a_signal},
#endif
    {"late", end_and_close_late},
    {"static", end_with_a_static_owner},
    {"children", end_of_children},
    {"dlclose", end_after_dlclose},
    {"open", end_with_all_open},
    {"quick", end_quickly},
};

int run_role(const char* name) {
  library = dlopen("libfabric.so.1", RTLD_NOW);
  must(library != nullptr, "dlopen");
  for (const Role& role : kRoles) {
    if (std::strcmp(role.name, name) != 0) continue;
    role.run();
    std::exit(0);
  }
  return 2;
}

// Exit status of a process in that role; -1: it did not end by itself. The limit of a minute is for
// machines that check every access to memory.
int status_of(const char* program, const char* role) {
  const pid_t child = fork();
  must(child >= 0, "fork");
  if (child == 0) {
    execl(program, program, "--role", role, nullptr);
    _exit(127);
  }
  for (const auto end = Clock::now() + std::chrono::minutes(1); Clock::now() < end;) {
    int status = -1;
    if (waitpid(child, &status, WNOHANG) == child) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "--role") == 0) return run_role(argv[2]);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 50;
  int ended = 0;
  int begun = 0;
  for (int i = 0; i < rounds; ++i) {
    const char* const role =
        argc > 2 ? argv[2] : kRoles[static_cast<size_t>(i) % std::size(kRoles)].name;
    const int status = status_of("/proc/self/exe", role);
    ++begun;
    ended += status == 0 ? 1 : 0;
    if (status == 0) continue;
    std::printf("round %d, role %s: %s %d\n", i, role,
                status == -1          ? "did not end;"
                : WIFSIGNALED(status) ? "killed by signal"
                                      : "status",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  }
  std::printf("%d of %d processes ended cleanly\n", ended, begun);
  return ended == begun && begun == rounds && rounds > 0 ? 0 : 1;
}
