/* Method numbers and the variants of the kernels behind comparators.pyx. */
#ifndef ROPOLL_COMPARATORS_H
#define ROPOLL_COMPARATORS_H

#include "mean.h"
#include "panels.h"
#include "simd.h"

enum { COORDINATEWISE_MEDIAN, COORDINATEWISE_TRIMMED_MEAN, TRIMMED_MEAN, MEDOID };

namespace ropoll_comparators {

#define ROPOLL_BODY "comparators_body.h"
#include "panel_variants.h"

} /* namespace ropoll_comparators */

#endif
