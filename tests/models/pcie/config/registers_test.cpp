// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "models/pcie/config/capabilities/access_control.h"
#include "models/pcie/config/capabilities/advanced_error_reporting.h"
#include "models/pcie/config/capabilities/alternative_routing.h"
#include "models/pcie/config/capabilities/data_link_feature.h"
#include "models/pcie/config/capabilities/device_3.h"
#include "models/pcie/config/capabilities/downstream_port_containment.h"
#include "models/pcie/config/capabilities/hot_plug_slot.h"
#include "models/pcie/config/capabilities/lane_margining.h"
#include "models/pcie/config/capabilities/msi.h"
#include "models/pcie/config/capabilities/msi_x.h"
#include "models/pcie/config/capabilities/pci_express.h"
#include "models/pcie/config/capabilities/physical_layer.h"
#include "models/pcie/config/capabilities/power_management.h"
#include "models/pcie/config/capabilities/secondary_pci_express.h"
#include "models/pcie/config/capabilities/serial_number.h"
#include "models/pcie/config/capabilities/sr_iov.h"
#include "models/pcie/config/header_registers.h"

// Models and tests use the same names for registers and bits. This file compares the names with the
// numbers of the specification (PCIe 5.0, chapters 7 and 9; 6.0 for Device 3), so that a wrong
// number cannot go unnoticed by agreeing with itself.

namespace pcie {
namespace {

TEST(Registers, Headers) {
  using H = HeaderRegisters;
  EXPECT_EQ(
      (std::array{H::vendor_id, H::device_id, H::command, H::status, H::revision_id, H::class_code,
                  H::cache_line_size, H::header_type, H::capabilities_pointer, H::interrupt_line,
                  H::interrupt_pin}),
      (std::array{0x00u, 0x02u, 0x04u, 0x06u, 0x08u, 0x09u, 0x0cu, 0x0eu, 0x34u, 0x3cu, 0x3du}));
  EXPECT_EQ((std::array{H::CommandBit::memory_space, H::CommandBit::bus_master,
                        H::CommandBit::parity_error_response, H::CommandBit::serr_enable,
                        H::CommandBit::interrupt_disable}),
            (std::array{0x0002u, 0x0004u, 0x0040u, 0x0100u, 0x0400u}));
  EXPECT_EQ(
      (std::array{H::StatusBit::interrupt, H::StatusBit::capabilities_list,
                  H::StatusBit::master_data_parity_error, H::StatusBit::signaled_target_abort,
                  H::StatusBit::received_target_abort, H::StatusBit::received_master_abort,
                  H::StatusBit::signaled_system_error, H::StatusBit::received_system_error,
                  H::StatusBit::detected_parity_error, H::StatusBit::errors, H::multi_function}),
      (std::array{0x0008u, 0x0010u, 0x0100u, 0x0800u, 0x1000u, 0x2000u, 0x4000u, 0x4000u, 0x8000u,
                  0xf900u, 0x80u}));
  EXPECT_EQ(Type0Registers::bar(0), 0x10u);
  EXPECT_EQ(Type0Registers::bar(5), 0x24u);
  EXPECT_EQ(Type0Registers::subsystem_vendor_id, 0x2cu);
  EXPECT_EQ(Type0Registers::subsystem_id, 0x2eu);
  EXPECT_EQ((std::array{BarBit::is_64bit, BarBit::prefetchable, BarBit::flags}),
            (std::array{0x4u, 0x8u, 0xfu}));
  using B = Type1Registers;
  EXPECT_EQ(
      (std::array{B::primary_bus_number, B::secondary_bus_number, B::subordinate_bus_number,
                  B::secondary_status, B::memory_base, B::memory_limit, B::prefetchable_memory_base,
                  B::prefetchable_memory_limit, B::prefetchable_base_upper,
                  B::prefetchable_limit_upper, B::bridge_control}),
      (std::array{0x18u, 0x19u, 0x1au, 0x1eu, 0x20u, 0x22u, 0x24u, 0x26u, 0x28u, 0x2cu, 0x3eu}));
  EXPECT_EQ(
      (std::array{B::BridgeControlBit::parity_error_response, B::BridgeControlBit::serr_enable,
                  B::BridgeControlBit::secondary_bus_reset, B::window_address, B::window_is_64bit}),
      (std::array{0x01u, 0x02u, 0x40u, 0xfff0u, 0x1u}));
}

TEST(Registers, PciExpress) {
  using P = PciExpress;
  EXPECT_EQ(P::id, 0x10);
  EXPECT_EQ(
      (std::array{P::capabilities, P::device_capabilities, P::device_control, P::device_status,
                  P::link_capabilities, P::link_control, P::link_status, P::slot_capabilities,
                  P::slot_control, P::slot_status, P::root_control, P::root_capabilities,
                  P::root_status, P::device_capabilities_2, P::device_control_2,
                  P::link_capabilities_2, P::link_control_2, P::link_status_2}),
      (std::array{0x02u, 0x04u, 0x08u, 0x0au, 0x0cu, 0x10u, 0x12u, 0x14u, 0x18u, 0x1au, 0x1cu,
                  0x1eu, 0x20u, 0x24u, 0x28u, 0x2cu, 0x30u, 0x32u}));
  using DC = P::DeviceControlBit;
  EXPECT_EQ((std::array{DC::error_reporting, DC::relaxed_ordering, DC::max_payload,
                        DC::extended_tags, DC::no_snoop, DC::max_read_request, DC::initiate_reset,
                        P::DeviceStatusBit::transactions_pending}),
            (std::array{0x000fu, 0x0010u, 0x00e0u, 0x0100u, 0x0800u, 0x7000u, 0x8000u, 0x0020u}));
  using LC = P::LinkControlBit;
  EXPECT_EQ((std::array{LC::read_boundary_128, LC::link_disable, LC::retrain_link, LC::common_clock,
                        LC::extended_synch, LC::bandwidth_management_enable,
                        LC::autonomous_bandwidth_enable, LC::flit_mode_disable}),
            (std::array{0x0008u, 0x0010u, 0x0020u, 0x0040u, 0x0080u, 0x0400u, 0x0800u, 0x2000u}));
  using LS = P::LinkStatusBit;
  EXPECT_EQ((std::array{LS::speed, LS::width, LS::link_training, LS::slot_clock, LS::link_active,
                        LS::bandwidth_management, LS::autonomous_bandwidth}),
            (std::array{0x000fu, 0x03f0u, 0x0800u, 0x1000u, 0x2000u, 0x4000u, 0x8000u}));
  using D2 = P::DeviceControl2Bit;
  EXPECT_EQ((std::array{D2::timeout_value, D2::timeout_disable, D2::ari_forwarding,
                        D2::atomic_requester, D2::atomic_egress_blocking, D2::ido_request,
                        D2::ido_completion, D2::ten_bit_tag_requester}),
            (std::array{0x000fu, 0x0010u, 0x0020u, 0x0040u, 0x0080u, 0x0100u, 0x0200u, 0x1000u}));
  using C2 = P::DeviceCapabilities2Bit;
  EXPECT_EQ(
      (std::array{C2::timeout_ranges, C2::timeout_disable, C2::ari_forwarding, C2::atomic_routing,
                  C2::atomic_completer, C2::ten_bit_tag_completer, C2::ten_bit_tag_requester,
                  C2::deferrable_write_completer, C2::deferrable_write_128}),
      (std::array{0xfu, 0x10u, 0x20u, 0x40u, 0x380u, 0x10000u, 0x20000u, 0x10000000u,
                  0x20000000u}));
  EXPECT_EQ(
      (std::array{P::RootControlBit::retry_visible, P::RootCapabilitiesBit::retry_visible,
                  P::RootStatusBit::pme_status, P::LinkControl2Bit::target_speed,
                  P::LinkStatus2Bit::equalized, P::LinkStatus2Bit::flit_mode,
                  P::CapabilitiesBit::slot_implemented, P::CapabilitiesBit::flit_mode_supported}),
      (std::array{0x10u, 0x1u, 0x10000u, 0xfu, 0x1eu, 0x400u, 0x100u, 0x8000u}));
}

TEST(Registers, HotPlugSlot) {
  EXPECT_EQ(PciExpress::slot_capabilities + HotPlugSlot::slot_control, PciExpress::slot_control);
  EXPECT_EQ(PciExpress::slot_capabilities + HotPlugSlot::slot_status, PciExpress::slot_status);
  using C = HotPlugSlot::CapabilityBit;
  EXPECT_EQ((std::array{C::attention_button, C::power_controller, C::latch_sensor, C::indicators,
                        C::hot_plug_surprise, C::hot_plug_capable, C::interlock,
                        C::no_command_completed}),
            (std::array{0x1u, 0x2u, 0x4u, 0x18u, 0x20u, 0x40u, 0x20000u, 0x40000u}));
  using T = HotPlugSlot::ControlBit;
  EXPECT_EQ((std::array{T::hot_plug_interrupt_enable, T::indicators, T::power_off,
                        T::toggle_interlock, T::link_changed_enable}),
            (std::array{0x20u, 0x3c0u, 0x400u, 0x800u, 0x1000u}));
  using S = HotPlugSlot::StatusBit;
  EXPECT_EQ((std::array{S::button_pressed, S::power_fault, S::latch_changed, S::presence_changed,
                        S::command_completed, S::latch_open, S::presence_detect,
                        S::interlock_engaged, S::link_changed}),
            (std::array{0x1u, 0x2u, 0x4u, 0x8u, 0x10u, 0x20u, 0x40u, 0x80u, 0x100u}));
}

TEST(Registers, Interrupts) {
  EXPECT_EQ(Msi::id, 0x05);
  EXPECT_EQ((std::array{Msi::message_control, Msi::message_address, Msi::message_upper_address,
                        Msi::message_data, Msi::extended_message_data, Msi::mask_bits,
                        Msi::pending_bits}),
            (std::array{0x02u, 0x04u, 0x08u, 0x0cu, 0x0eu, 0x10u, 0x14u}));
  using M = Msi::ControlBit;
  EXPECT_EQ((std::array{M::enable, M::multiple_enable, M::is_64bit, M::maskable,
                        M::extended_data_capable, M::extended_data_enable}),
            (std::array{0x1u, 0x70u, 0x80u, 0x100u, 0x200u, 0x400u}));
  EXPECT_EQ(MsiX::id, 0x11);
  EXPECT_EQ((std::array{MsiX::message_control, MsiX::table, MsiX::pending_bit_array}),
            (std::array{0x02u, 0x04u, 0x08u}));
  EXPECT_EQ((std::array{MsiX::ControlBit::table_size, MsiX::ControlBit::function_mask,
                        MsiX::ControlBit::enable}),
            (std::array{0x7ffu, 0x4000u, 0x8000u}));
  EXPECT_EQ((std::array{MsiX::Entry::address, MsiX::Entry::upper_address, MsiX::Entry::data,
                        MsiX::Entry::vector_control}),
            (std::array{0x0u, 0x4u, 0x8u, 0xcu}));
}

TEST(Registers, Errors) {
  using A = AdvancedErrorReporting;
  EXPECT_EQ(A::id, 0x0001);
  EXPECT_EQ((std::array{A::uncorrectable_status, A::uncorrectable_mask, A::uncorrectable_severity,
                        A::correctable_status, A::correctable_mask, A::control, A::header_log,
                        A::root_error_command, A::root_error_status, A::error_source,
                        A::uncorrectable_source, A::header_log_5}),
            (std::array{0x04u, 0x08u, 0x0cu, 0x10u, 0x14u, 0x18u, 0x1cu, 0x2cu, 0x30u, 0x34u, 0x36u,
                        0x38u}));
  EXPECT_EQ((std::array{A::advisory_non_fatal, A::ControlBit::first_error_pointer,
                        A::ControlBit::generation_capable, A::ControlBit::generation_enable,
                        A::ControlBit::check_capable, A::ControlBit::check_enable}),
            (std::array{0x2000u, 0x1fu, 0x20u, 0x40u, 0x80u, 0x100u}));
  EXPECT_EQ((std::array{A::ControlBit::logged_in_flit, A::ControlBit::logged_size}),
            (std::array{1u << 18, 0x1fu << 19}));  // PCIe 6.0
  EXPECT_EQ(A::ControlBit::header_log_size_shift, 13u);
  using R = A::RootErrorStatusBit;
  EXPECT_EQ((std::array{R::correctable, R::multiple_correctable, R::uncorrectable,
                        R::multiple_uncorrectable, R::first_uncorrectable_fatal, R::non_fatal,
                        R::fatal, R::all}),
            (std::array{0x1u, 0x2u, 0x4u, 0x8u, 0x10u, 0x20u, 0x40u, 0x7fu}));
  using D = DownstreamPortContainment;
  EXPECT_EQ(D::id, 0x001d);
  EXPECT_EQ(
      (std::array{D::capability, D::control, D::status, D::source_id, D::pio_status, D::pio_mask,
                  D::pio_severity, D::pio_system_error, D::pio_exception, D::pio_header_log}),
      (std::array{0x04u, 0x06u, 0x08u, 0x0au, 0x0cu, 0x10u, 0x14u, 0x18u, 0x1cu, 0x20u}));
  using C = D::ControlBit;
  EXPECT_EQ((std::array{C::trigger_fatal, C::trigger_non_fatal, C::trigger_enable,
                        C::completion_unsupported, C::interrupt_enable, C::err_cor_enable,
                        C::poisoned_egress_blocking, C::software_trigger}),
            (std::array{0x1u, 0x2u, 0x3u, 0x4u, 0x8u, 0x10u, 0x20u, 0x40u}));
  EXPECT_EQ((std::array{D::StatusBit::triggered, D::StatusBit::reason, D::StatusBit::interrupt,
                        D::StatusBit::first_error_pointer}),
            (std::array{0x1u, 0x66u, 0x8u, 0x1f00u}));
}

TEST(Registers, FurtherCapabilities) {
  EXPECT_EQ(
      (std::array{PowerManagement::capabilities, PowerManagement::control,
                  PowerManagement::ControlBit::power_state, PowerManagement::ControlBit::d3hot,
                  PowerManagement::ControlBit::no_soft_reset}),
      (std::array{0x2u, 0x4u, 0x3u, 0x3u, 0x8u}));
  EXPECT_EQ((std::array<unsigned, 9>{PowerManagement::id, AccessControl::id, AlternativeRouting::id,
                                     DataLinkFeature::id, Device3::id, LaneMargining::id,
                                     SecondaryPciExpress::id, SerialNumber::id, SrIov::id}),
            (std::array<unsigned, 9>{0x01, 0x0d, 0x0e, 0x25, 0x2f, 0x27, 0x19, 0x03, 0x10}));
  EXPECT_EQ(
      (std::array<unsigned, 3>{PhysicalLayer::id(4), PhysicalLayer::id(5), PhysicalLayer::id(6)}),
      (std::array<unsigned, 3>{0x26, 0x2a, 0x31}));
  using S = SrIov;
  EXPECT_EQ(
      (std::array{S::capabilities, S::control, S::status, S::initial_vfs, S::total_vfs, S::num_vfs,
                  S::function_dependency_link, S::first_vf_offset, S::vf_stride, S::vf_device_id,
                  S::supported_page_sizes, S::system_page_size, S::vf_bar, S::migration_state}),
      (std::array{0x04u, 0x08u, 0x0au, 0x0cu, 0x0eu, 0x10u, 0x12u, 0x14u, 0x16u, 0x1au, 0x1cu,
                  0x20u, 0x24u, 0x3cu}));
  EXPECT_EQ((std::array{S::ControlBit::vf_enable, S::ControlBit::vf_memory_space,
                        S::ControlBit::ari_capable, S::ControlBit::ten_bit_tag_requester}),
            (std::array{0x1u, 0x8u, 0x10u, 0x20u}));
  using A = AccessControl::ServiceBit;
  EXPECT_EQ((std::array{A::source_validation, A::translation_blocking, A::request_redirect,
                        A::completion_redirect, A::upstream_forwarding, A::egress_control,
                        A::direct_translated}),
            (std::array{0x1u, 0x2u, 0x4u, 0x8u, 0x10u, 0x20u, 0x40u}));
  EXPECT_EQ((std::array{AccessControl::capability, AccessControl::control,
                        AccessControl::egress_control_vector, SecondaryPciExpress::link_control_3,
                        SecondaryPciExpress::lane_error_status, SecondaryPciExpress::presets,
                        DataLinkFeature::capabilities, DataLinkFeature::status,
                        PhysicalLayer::status, LaneMargining::port_status,
                        LaneMargining::first_control, Device3::device_control_3}),
            (std::array{0x4u, 0x6u, 0x8u, 0x4u, 0x8u, 0xcu, 0x4u, 0x8u, 0xcu, 0x6u, 0x8u, 0x8u}));
}

}  // namespace
}  // namespace pcie
