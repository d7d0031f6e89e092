// SPDX-License-Identifier: Apache-2.0
// A library without the entry.
int plain(void);
int plain(void) { return 0; }
