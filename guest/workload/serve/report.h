/* SPDX-License-Identifier: Apache-2.0 */
/* What `serve` prints at the end. */
#ifndef SERVE_REPORT_H
#define SERVE_REPORT_H

#include <stdbool.h>

#include "churn.h"
#include "dispatcher.h"

/* Prints it, and complains on stderr of what must not be. Returns whether there was nothing. */
bool report(const struct dispatching* common, const struct dispatcher* dispatchers, unsigned count,
            const struct churn* churn);

#endif
