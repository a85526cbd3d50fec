// All headers of the semantic sublayer. Each is a plain struct with parse() for packets from the
// network, read() for octets already known to be that header, and emit().
#pragma once

#include "wire/ses_extension.h"
#include "wire/ses_request.h"
#include "wire/ses_request_single.h"
#include "wire/ses_response.h"
