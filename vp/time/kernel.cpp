// SPDX-License-Identifier: Apache-2.0
#include "vp/time/kernel.h"

namespace vp {
namespace {

using Context = sc_core::sc_simcontext;

// The standard lets an explicit instantiation name private members (C++17, 17.7.2, paragraph 12).
// If SystemC renames one of them, this does not compile.
template <void (Context::*step)(const sc_core::sc_time&), bool Context::*paused,
          bool Context::*stopped>
struct Members {
  friend void advance_context(Context& context, const sc_core::sc_time& to) { (context.*step)(to); }
  friend bool context_returns(const Context& context) {
    return context.*paused || context.*stopped;
  }
};
void advance_context(Context& context, const sc_core::sc_time& to);
bool context_returns(const Context& context);

template struct Members<&Context::do_timestep, &Context::m_paused, &Context::m_forced_stop>;

}  // namespace

void Kernel::advance(Picoseconds when) {
  advance_context(*sc_core::sc_get_curr_simcontext(), to_sc_time(when));
}

bool Kernel::is_to_return() {
  return context_returns(*sc_core::sc_get_curr_simcontext());
}

}  // namespace vp
