// All headers of the packet delivery sublayer. Each is a plain struct with parse() for packets
// from the network, read() for octets already known to be that header, and emit().
#pragma once

#include "wire/pds_ack.h"
#include "wire/pds_ack_cc.h"
#include "wire/pds_connectionless.h"
#include "wire/pds_control.h"
#include "wire/pds_nack.h"
#include "wire/pds_prologue.h"
#include "wire/pds_request.h"
