// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
// The barrier goes to the test.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

void mb(void);

#ifdef __cplusplus
}
#endif
