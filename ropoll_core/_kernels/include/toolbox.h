/* Method numbers and the variants of the kernels behind toolbox.pyx. */
#ifndef ROPOLL_TOOLBOX_H
#define ROPOLL_TOOLBOX_H

#include "panels.h"
#include "simd.h"

enum { MULTI_KRUM, BULYAN, HUBER_MEAN };

namespace ropoll_toolbox {

#define ROPOLL_BODY "toolbox_body.h"
#include "panel_variants.h"

} /* namespace ropoll_toolbox */

#endif
