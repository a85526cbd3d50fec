// The program, instruction by instruction, and the calls of bpf(2) that load and attach it.
#include "io/xdp/program.h"

#include "io/frame/frame.h"
#include "io/xdp/patience.h"

#include <arpa/inet.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

namespace uet::io {
namespace {

// Registers: the result, five arguments that a call spoils, and three that it keeps.
enum Register : uint8_t {
  r0,
  r1,
  r2,
  r3,
  r4,
  r5,
  r6,
};

// Builds a program. Loads are of the octet order of the machine, as the packet has them.
class Assembler {
 public:
  void move(Register to, Register from) { add(opcode(BPF_ALU64, BPF_MOV, BPF_X), to, from, 0, 0); }
  void set(Register to, int32_t value) { add(opcode(BPF_ALU64, BPF_MOV, BPF_K), to, r0, 0, value); }
  void set64(Register to, uint64_t value, uint8_t meaning = 0) {
    add(opcode(BPF_LD, BPF_DW, BPF_IMM), to, static_cast<Register>(meaning), 0,
        static_cast<int32_t>(value));
    add(0, r0, r0, 0, static_cast<int32_t>(value >> 32));
  }
  void add_to(Register to, int32_t value) {
    add(opcode(BPF_ALU64, BPF_ADD, BPF_K), to, r0, 0, value);
  }
  void mask(Register of, int32_t bits) { add(opcode(BPF_ALU64, BPF_AND, BPF_K), of, r0, 0, bits); }
  void load(uint8_t size, Register to, Register at, size_t offset) {
    add(opcode(BPF_LDX, BPF_MEM, size), to, at, static_cast<int16_t>(offset), 0);
  }
  void store64(Register at, size_t offset, Register from) {
    add(opcode(BPF_STX, BPF_MEM, BPF_DW), at, from, static_cast<int16_t>(offset), 0);
  }
  void call(int32_t function) { add(opcode(BPF_JMP, BPF_CALL), r0, r0, 0, function); }
  void exit() { add(opcode(BPF_JMP, BPF_EXIT), r0, r0, 0, 0); }

  // Jumps forward to where the list of jumps will be landed.
  using Jumps = std::vector<size_t>;
  void unless(Register is, uint32_t value, Jumps& jumps) {  // of 32 bits
    jumps.push_back(code_.size());
    add(opcode(BPF_JMP32, BPF_JNE, BPF_K), is, r0, 0, static_cast<int32_t>(value));
  }
  void if_above(Register one, Register other, Jumps& jumps) {
    jumps.push_back(code_.size());
    add(opcode(BPF_JMP, BPF_JGT, BPF_X), one, other, 0, 0);
  }
  void land(const Jumps& jumps) {
    for (const size_t from : jumps) code_[from].off = static_cast<int16_t>(code_.size() - from - 1);
  }
  const std::vector<bpf_insn>& code() const { return code_; }

 private:
  // Class, size or operation, and mode or source of an instruction.
  template <class... Parts>
  static constexpr int opcode(Parts... parts) {
    return (parts | ...);
  }
  void add(int code, Register to, Register from, int16_t offset, int32_t value) {
    bpf_insn one{};
    one.code = static_cast<uint8_t>(code);
    one.dst_reg = to & 15;
    one.src_reg = from & 15;
    one.off = offset;
    one.imm = value;
    code_.push_back(one);
  }

  std::vector<bpf_insn> code_;
};

template <typename Value>
Value value_at(const uint8_t* octets) {
  Value value;
  std::memcpy(&value, octets, sizeof value);
  return value;
}

// Jumps to `pass` unless the IPv4 packet behind the Ethernet header in r2 is whole, of this
// protocol and to us.
void require_ipv4(Assembler& program, const FabricAddress& local, uint8_t protocol,
                  Assembler::Jumps& pass) {
  constexpr size_t kIp = kEthernetHeader;
  program.load(BPF_B, r5, r2, kIp);  // version and length: no options [WIRE-010]
  program.unless(r5, 0x45, pass);
  program.load(BPF_H, r5, r2, kIp + 6);  // no fragment: no offset, and no more to come
  program.mask(r5, htons(0x3fff));
  program.unless(r5, 0, pass);
  program.load(BPF_B, r5, r2, kIp + 9);  // protocol
  program.unless(r5, protocol, pass);
  program.load(BPF_W, r5, r2, kIp + 16);  // destination
  program.unless(r5, value_at<uint32_t>(local.ip.data()), pass);
}

// The same of an IPv6 packet; one with an extension header is a matter of the kernel.
void require_ipv6(Assembler& program, const FabricAddress& local, uint8_t protocol,
                  Assembler::Jumps& pass) {
  constexpr size_t kIp = kEthernetHeader;
  program.load(BPF_B, r5, r2, kIp);  // version
  program.mask(r5, 0xf0);
  program.unless(r5, 0x60, pass);
  program.load(BPF_B, r5, r2, kIp + 6);  // next header
  program.unless(r5, protocol, pass);
  for (size_t at = 0; at < 16; at += 4) {
    program.load(BPF_W, r5, r2, kIp + 24 + at);  // destination
    program.unless(r5, value_at<uint32_t>(local.ip.data() + at), pass);
  }
}

// r6 is the frame's context throughout, r2 its data in the first half.
std::vector<bpf_insn> assemble(const FabricAddress& local, uint8_t ip_protocol,
                               const Interface& interface, const Fd& sockets) {
  const bool ipv6 = local.family == FabricAddress::Family::ipv6;
  const bool has_udp = ip_protocol == 0;
  const uint8_t protocol = has_udp ? uint8_t{IPPROTO_UDP} : ip_protocol;
  const uint32_t ip_end = kEthernetHeader + ip_header_bytes_of(local);
  const uint32_t headers = ip_end + (has_udp ? kUdpHeader : kEntropyHeader);
  Assembler program;
  Assembler::Jumps pass;
  Assembler::Jumps unstamped;
  program.move(r6, r1);
  program.load(BPF_W, r2, r6, offsetof(xdp_md, data));
  program.load(BPF_W, r3, r6, offsetof(xdp_md, data_end));
  program.move(r4, r2);  // all headers are there: the kernel's verifier asks for it, too
  program.add_to(r4, static_cast<int32_t>(headers));
  program.if_above(r4, r3, pass);
  program.load(BPF_W, r5, r2, 0);  // to our Ethernet address: other packets pass, as in promiscuous
                                   // mode
  program.unless(r5, value_at<uint32_t>(interface.mac.data()), pass);
  program.load(BPF_H, r5, r2, 4);
  program.unless(r5, value_at<uint16_t>(interface.mac.data() + 4), pass);
  program.load(BPF_H, r5, r2, 12);  // the type: anything in a VLAN passes
  program.unless(r5, htons(ipv6 ? ETH_P_IPV6 : ETH_P_IP), pass);
  ipv6 ? require_ipv6(program, local, protocol, pass)
       : require_ipv4(program, local, protocol, pass);
  if (has_udp) {
    program.load(BPF_H, r5, r2, ip_end + 2);  // destination port
    program.unless(r5, htons(local.port), pass);
  }

  program.move(r1, r6);  // room before the frame, where the driver has any
  program.set(r2, -static_cast<int32_t>(sizeof(XdpStamp)));
  program.call(BPF_FUNC_xdp_adjust_meta);
  program.unless(r0, 0, unstamped);
  program.call(BPF_FUNC_ktime_get_ns);
  program.load(BPF_W, r2, r6, offsetof(xdp_md, data_meta));
  program.load(BPF_W, r3, r6, offsetof(xdp_md, data));
  program.move(r4, r2);  // again for the verifier
  program.add_to(r4, sizeof(XdpStamp));
  program.if_above(r4, r3, unstamped);
  program.store64(r2, offsetof(XdpStamp, at_ns), r0);
  program.set64(r5, XdpStamp::kThere);
  program.store64(r2, offsetof(XdpStamp, there), r5);

  program.land(unstamped);  // to the socket of this queue; a queue without one passes
  program.load(BPF_W, r2, r6, offsetof(xdp_md, rx_queue_index));
  program.set64(r1, static_cast<uint64_t>(sockets.get()), BPF_PSEUDO_MAP_FD);
  program.set(r3, XDP_PASS);
  program.call(BPF_FUNC_redirect_map);
  program.exit();
  program.land(pass);
  program.set(r0, XDP_PASS);
  program.exit();
  return program.code();
}

int bpf(bpf_cmd command, bpf_attr& attributes) {
  return static_cast<int>(::syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

std::string load_failure(int error) {
  std::string text = "cannot load a BPF program: " + errno_text(error);
  if (error == EPERM || error == EACCES) {
    text += "; give the process CAP_NET_ADMIN, CAP_BPF and CAP_NET_RAW, or use FI_UET_IO=packet";
  } else if (error == ENOSYS || error == EINVAL) {
    text += "; AF_XDP needs Linux 5.11 with CONFIG_XDP_SOCKETS; use FI_UET_IO=packet";
  } else {
    text += "; use FI_UET_IO=packet";
  }
  return text;
}

std::string link_failure(const std::string& interface, int error) {
  if (error == EBUSY || error == EEXIST) {
    return "another XDP program is on " + interface + " (ip link show " + interface +
           "), and an interface has one: stop the other process, or use FI_UET_IO=packet";
  }
  std::string text = "cannot attach an XDP program to " + interface + ": " + errno_text(error);
  if (error == EPERM || error == EACCES) {
    return text + "; give the process CAP_NET_ADMIN, or use FI_UET_IO=packet";
  }
  return text + " (its driver has no XDP as it is set up); use FI_UET_IO=packet";
}

}  // namespace

bool XdpProgram::load(const FabricAddress& local, uint8_t ip_protocol, const Interface& interface,
                      std::string& error) {
  const bool is_loaded = make(local, ip_protocol, interface);
  if (!is_loaded) error = load_failure(errno);
  return is_loaded;
}

// On an interface without a device, packets come from this host, and behind the driver packets of a
// stream may be joined, with one UDP header before all of them, and without a sign of it.
bool XdpProgram::attach(const Interface& interface, std::string& error) {
  if (attach_at(Place::driver, interface, error)) return true;
  // Any obstacle of the driver: XDP, its MTU, its queues.
  const bool is_dislike = errno != EBUSY && errno != EEXIST && errno != EPERM;
  return is_dislike && !interface.is_virtual && attach_at(Place::generic, interface, error);
}

bool XdpProgram::attach_at(Place place, const Interface& interface, std::string& error) {
  place_ = place;
  const bool is_there = link(interface);
  const int failure = errno;
  if (!is_there) error = link_failure(interface.name, failure);
  errno = failure;
  return is_there;
}

bool XdpProgram::make(const FabricAddress& local, uint8_t ip_protocol, const Interface& interface) {
  bpf_attr map{};
  map.map_type = BPF_MAP_TYPE_XSKMAP;
  map.key_size = map.value_size = sizeof(uint32_t);
  map.max_entries = kQueuesMax;
  sockets_ = Fd(bpf(BPF_MAP_CREATE, map));
  if (!sockets_) return false;
  const std::vector<bpf_insn> code = assemble(local, ip_protocol, interface, sockets_);
  bpf_attr program{};
  program.prog_type = BPF_PROG_TYPE_XDP;
  program.insn_cnt = static_cast<uint32_t>(code.size());
  program.insns = reinterpret_cast<uint64_t>(code.data());
  program.license = reinterpret_cast<uint64_t>("BSD");
  program.expected_attach_type = BPF_XDP;
  std::memcpy(program.prog_name, "uet_xdp", sizeof "uet_xdp");
  // Frames of several buffers are no obstacle: drivers then allow a large MTU. Linux 5.18.
  program.prog_flags = BPF_F_XDP_HAS_FRAGS;
  program_ = Fd(bpf(BPF_PROG_LOAD, program));
  if (program_ || errno != EINVAL) return static_cast<bool>(program_);
  program.prog_flags = 0;
  program_ = Fd(bpf(BPF_PROG_LOAD, program));
  return static_cast<bool>(program_);
}

bool XdpProgram::link(const Interface& interface) {
  return try_while_busy([&] {
    bpf_attr link{};
    link.link_create.prog_fd = static_cast<uint32_t>(program_.get());
    link.link_create.target_ifindex = interface.index;
    link.link_create.attach_type = BPF_XDP;
    link.link_create.flags = place_ == Place::driver ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
    link_ = Fd(bpf(BPF_LINK_CREATE, link));
    return static_cast<bool>(link_);
  });
}

bool XdpProgram::hand_to(uint32_t queue, const Fd& socket) {
  const int value = socket.get();
  bpf_attr element{};
  element.map_fd = static_cast<uint32_t>(sockets_.get());
  element.key = reinterpret_cast<uint64_t>(&queue);
  element.value = reinterpret_cast<uint64_t>(&value);
  return bpf(BPF_MAP_UPDATE_ELEM, element) == 0;
}

}  // namespace uet::io
