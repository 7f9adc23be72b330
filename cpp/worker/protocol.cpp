#include "worker/protocol.hpp"

#include <cmath>

namespace kfp {
namespace {

enum class BindingKind : std::uint8_t { buffer, bytes, threadgroup };

void encode(Writer& to, const Binding& binding) {
    to.put(binding.index);
    if (const auto* buffer = std::get_if<BufferBinding>(&binding.value)) {
        to.put(BindingKind::buffer);
        to.put(buffer->buffer);
        to.put(buffer->offset);
    } else if (const auto* bytes = std::get_if<BytesBinding>(&binding.value)) {
        to.put(BindingKind::bytes);
        to.bytes(bytes->bytes);
    } else {
        to.put(BindingKind::threadgroup);
        to.put(std::get<ThreadgroupBinding>(binding.value).bytes);
    }
}

Binding decode_binding(Reader& from) {
    Binding binding;
    binding.index = from.get<std::uint32_t>();
    switch (from.one_of(BindingKind::threadgroup)) {
        case BindingKind::buffer: {
            BufferBinding buffer;
            buffer.buffer = from.get<std::uint32_t>();
            buffer.offset = from.get<std::uint64_t>();
            binding.value = buffer;
            break;
        }
        case BindingKind::bytes: {
            const auto bytes = from.bytes();
            binding.value = BytesBinding{{bytes.begin(), bytes.end()}};
            break;
        }
        case BindingKind::threadgroup:
            binding.value = ThreadgroupBinding{from.get<std::uint32_t>()};
            break;
    }
    return binding;
}

Diagnostic decode_diagnostic(Reader& from) {
    Diagnostic diagnostic;
    diagnostic.severity = from.one_of(Severity::error);
    diagnostic.line = from.get<std::uint32_t>();
    diagnostic.column = from.get<std::uint32_t>();
    diagnostic.message = printable(from.text());
    return diagnostic;
}

Parameter decode_parameter(Reader& from) {
    Parameter parameter;
    parameter.name = printable(from.text());
    parameter.type = printable(from.text());
    parameter.kind = from.one_of(ParameterKind::other);
    parameter.index = from.get<std::uint32_t>();
    parameter.attribute = printable(from.text());
    return parameter;
}

KernelInfo decode_kernel(Reader& from) {
    KernelInfo kernel;
    kernel.name = printable(from.text());
    constexpr std::size_t least = 33;
    const auto parameters = from.count(least);
    for (std::size_t i = 0; i < parameters; ++i) kernel.parameters.push_back(decode_parameter(from));
    kernel.max_total_threads_per_threadgroup = from.get<std::uint32_t>();
    kernel.thread_execution_width = from.get<std::uint32_t>();
    kernel.static_threadgroup_memory_length = from.get<std::uint32_t>();
    kernel.pipeline_error = printable(from.text());
    return kernel;
}

// Bytes of the UTF-8 sequence at the front of `text`, 0 if it isn't one (RFC 3629: shortest form, no surrogates).
std::size_t sequence_length(std::string_view text) {
    const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto continues = [&](std::size_t i) { return (at(i) & 0xC0U) == 0x80U; };
    const unsigned first = at(0);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        if (!continues(1) || !continues(2)) return 0;
        if ((first == 0xE0 && at(1) < 0xA0) || (first == 0xED && at(1) > 0x9F)) return 0;
        return 3;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        if (!continues(1) || !continues(2) || !continues(3)) return 0;
        if ((first == 0xF0 && at(1) < 0x90) || (first == 0xF4 && at(1) > 0x8F)) return 0;
        return 4;
    }
    return 0;
}

bool is_control(std::string_view sequence) {
    const auto first = static_cast<unsigned char>(sequence[0]);
    if (sequence.size() == 1) return (first < 0x20 && first != '\n' && first != '\t') || first == 0x7F;
    return sequence.size() == 2 && first == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0;
}

}  // namespace

void encode(Writer& to, const OpenRequest& request) {
    to.text(request.device);
    to.text(request.toolchain.clang);
    to.put(static_cast<std::uint8_t>(request.toolchain.clang_is_zig));
    to.put(static_cast<std::uint8_t>(request.toolchain.lld_only));
    to.text(request.toolchain.msl_include);
    to.text(request.toolchain.cache);
    to.text(request.toolchain.sandbox);
    to.put(request.compile_seconds);
    to.put(request.compile_memory_bytes);
}

OpenRequest decode_open(Reader& from) {
    OpenRequest request;
    request.device = from.text();
    request.toolchain.clang = from.text();
    request.toolchain.clang_is_zig = from.flag();
    request.toolchain.lld_only = from.flag();
    request.toolchain.msl_include = from.text();
    request.toolchain.cache = from.text();
    request.toolchain.sandbox = from.text();
    request.compile_seconds = from.get<double>();
    request.compile_memory_bytes = from.get<std::uint64_t>();
    return request;
}

void encode(Writer& to, const SampleRequest& request) {
    to.put(static_cast<std::uint64_t>(request.arms.size()));
    for (const auto& [execution, repeats] : request.arms) {
        to.put(execution);
        to.put(repeats);
    }
    to.put(static_cast<std::uint64_t>(request.order.size()));
    for (const auto index : request.order) to.put(index);
    to.put(static_cast<std::uint8_t>(request.each_from_reset));
    to.put(static_cast<std::uint8_t>(request.sentinel.has_value()));
    to.put(request.sentinel.value_or(0));
    to.put(request.warm_up.samples_per_window);
    to.put(request.warm_up.agreement);
    to.put(request.warm_up.most_seconds);
    to.put(request.warm_up.idle_seconds);
}

SampleRequest decode_sample(Reader& from) {
    SampleRequest request;
    request.arms.resize(from.count(2 * sizeof(std::uint32_t)));
    for (auto& [execution, repeats] : request.arms) {
        execution = from.get<std::uint32_t>();
        repeats = from.get<std::uint32_t>();
    }
    request.order.resize(from.count(sizeof(std::uint32_t)));
    for (auto& index : request.order) {
        index = from.get<std::uint32_t>();
        if (index >= request.arms.size()) throw ProtocolError("an order of arms that aren't there");
    }
    request.each_from_reset = from.flag();
    const bool has_sentinel = from.flag();
    const auto sentinel = from.get<std::uint32_t>();
    if (has_sentinel && sentinel >= request.arms.size()) throw ProtocolError("a sentinel that isn't there");
    if (has_sentinel) request.sentinel = sentinel;
    request.warm_up.samples_per_window = from.get<std::uint32_t>();
    request.warm_up.agreement = from.get<double>();
    request.warm_up.most_seconds = from.get<double>();
    request.warm_up.idle_seconds = from.get<double>();
    return request;
}

void encode(Writer& to, const CompileOptions& options) {
    to.put(options.math);
    to.put(static_cast<std::uint8_t>(options.checked));
    to.put(static_cast<std::uint8_t>(options.check_only));
    to.put(static_cast<std::uint64_t>(options.constants.size()));
    for (const auto& constant : options.constants) {
        to.put(constant.index);
        to.bytes(constant.value);
    }
    to.text(options.counting);
    to.put(options.counters);
}

CompileOptions decode_compile_options(Reader& from) {
    CompileOptions options;
    options.math = from.one_of(Math::precise);
    options.checked = from.flag();
    options.check_only = from.flag();
    constexpr std::size_t least = 12;
    const auto constants = from.count(least);
    for (std::size_t i = 0; i < constants; ++i) {
        FunctionConstant constant;
        constant.index = from.get<std::uint32_t>();
        const auto value = from.bytes();
        constant.value.assign(value.begin(), value.end());
        options.constants.push_back(std::move(constant));
    }
    options.counting = from.text();
    options.counters = from.get<std::uint32_t>();
    if (options.counters > most_counters) throw ProtocolError("too many counters");
    return options;
}

void encode(Writer& to, const Plan& plan) {
    to.put(static_cast<std::uint64_t>(plan.kernels.size()));
    for (const auto& kernel : plan.kernels) to.text(kernel);
    to.put(static_cast<std::uint64_t>(plan.buffers.size()));
    for (const auto& buffer : plan.buffers) {
        to.text(buffer.name);
        to.put(buffer.bytes);
        to.put(buffer.role);
        to.put(buffer.contents_offset);
    }
    to.put(static_cast<std::uint64_t>(plan.dispatches.size()));
    for (const auto& dispatch : plan.dispatches) {
        to.put(dispatch.kernel);
        for (const auto extent : dispatch.grid) to.put(extent);
        for (const auto extent : dispatch.threadgroup) to.put(extent);
        to.put(static_cast<std::uint64_t>(dispatch.bindings.size()));
        for (const auto& binding : dispatch.bindings) encode(to, binding);
    }
}

Plan decode_plan(Reader& from) {
    constexpr std::size_t least_kernel = 8, least_buffer = 25, least_dispatch = 36, least_binding = 9;
    Plan plan;
    plan.kernels.resize(from.count(least_kernel));
    for (auto& kernel : plan.kernels) kernel = from.text();
    plan.buffers.resize(from.count(least_buffer));
    for (auto& buffer : plan.buffers) {
        buffer.name = from.text();
        buffer.bytes = from.get<std::uint64_t>();
        buffer.role = from.one_of(BufferRole::scratch);
        buffer.contents_offset = from.get<std::uint64_t>();
    }
    plan.dispatches.resize(from.count(least_dispatch));
    for (auto& dispatch : plan.dispatches) {
        dispatch.kernel = from.get<std::uint32_t>();
        for (auto& extent : dispatch.grid) extent = from.get<std::uint32_t>();
        for (auto& extent : dispatch.threadgroup) extent = from.get<std::uint32_t>();
        const auto bindings = from.count(least_binding);
        dispatch.bindings.reserve(bindings);
        for (std::size_t i = 0; i < bindings; ++i) dispatch.bindings.push_back(decode_binding(from));
    }
    return plan;
}

void encode(Writer& to, const CompileReport& report) {
    to.put(static_cast<std::uint8_t>(report.compile_ok));
    to.put(report.seconds);
    to.put(static_cast<std::uint64_t>(report.diagnostics.size()));
    for (const auto& diagnostic : report.diagnostics) {
        to.put(diagnostic.severity);
        to.put(diagnostic.line);
        to.put(diagnostic.column);
        to.text(diagnostic.message);
    }
    to.put(static_cast<std::uint64_t>(report.kernels.size()));
    for (const auto& kernel : report.kernels) {
        to.text(kernel.name);
        to.put(static_cast<std::uint64_t>(kernel.parameters.size()));
        for (const auto& parameter : kernel.parameters) {
            to.text(parameter.name);
            to.text(parameter.type);
            to.put(parameter.kind);
            to.put(parameter.index);
            to.text(parameter.attribute);
        }
        to.put(kernel.max_total_threads_per_threadgroup);
        to.put(kernel.thread_execution_width);
        to.put(kernel.static_threadgroup_memory_length);
        to.text(kernel.pipeline_error);
    }
}

CompileReport decode_report(Reader& from) {
    constexpr std::size_t least_diagnostic = 17, least_kernel = 36;
    CompileReport report;
    report.compile_ok = from.flag();
    report.seconds = from.get<double>();
    if (!std::isfinite(report.seconds) || report.seconds < 0) throw ProtocolError("a compile time that is no time");
    const auto diagnostics = from.count(least_diagnostic);
    for (std::size_t i = 0; i < diagnostics; ++i) report.diagnostics.push_back(decode_diagnostic(from));
    const auto kernels = from.count(least_kernel);
    for (std::size_t i = 0; i < kernels; ++i) report.kernels.push_back(decode_kernel(from));
    return report;
}

void encode(Writer& to, const Intermediate& intermediate) {
    encode(to, intermediate.report);
    to.text(intermediate.program);
    to.text(intermediate.inlined);
    to.text(intermediate.reason);
    to.put(static_cast<std::uint64_t>(intermediate.map.tokens.size()));
    for (const auto& token : intermediate.map.tokens) {
        to.put(token.line);
        to.put(token.column);
        to.put(token.origin);
        to.text(token.text);
    }
    to.put(static_cast<std::uint64_t>(intermediate.map.origins.size()));
    for (const auto& origin : intermediate.map.origins) {
        to.put(origin.line);
        to.put(origin.column);
        to.put(origin.parent);
        to.text(origin.macro);
    }
    to.put(static_cast<std::uint64_t>(intermediate.map.lines.size()));
    for (const auto line : intermediate.map.lines) to.put(line);
    to.put(static_cast<std::uint64_t>(intermediate.threadgroup_arrays.size()));
    for (const auto& array : intermediate.threadgroup_arrays) {
        to.put(array.token);
        to.put(array.bytes);
    }
}

Intermediate decode_intermediate(Reader& from) {
    constexpr std::size_t least_token = 20, least_array = 12;
    Intermediate intermediate;
    intermediate.report = decode_report(from);
    intermediate.program = printable(from.text());
    intermediate.inlined = printable(from.text());
    intermediate.reason = printable(from.text());
    SourceMap& map = intermediate.map;
    map.tokens.resize(from.count(least_token));
    for (auto& token : map.tokens) {
        token.line = from.get<std::uint32_t>();
        token.column = from.get<std::uint32_t>();
        token.origin = from.get<std::uint32_t>();
        token.text = printable(from.text());
    }
    map.origins.resize(from.count(least_token));
    for (auto& origin : map.origins) {
        origin.line = from.get<std::uint32_t>();
        origin.column = from.get<std::uint32_t>();
        origin.parent = from.get<std::uint32_t>();
        origin.macro = printable(from.text());
    }
    const auto exists = [](std::uint32_t index, const auto& list) { return index < list.size(); };
    for (const auto& token : map.tokens) {
        if (!exists(token.origin, map.origins)) throw ProtocolError("a token from a macro that isn't there");
    }
    for (std::size_t i = 0; i < map.origins.size(); ++i) {
        // A use of a macro is read before what it becomes, so that no chain of them can be endless.
        if (map.origins[i].parent > i || (i != 0 && map.origins[i].parent == i)) throw ProtocolError("a macro used before its use");
    }
    map.lines.resize(from.count(sizeof(std::uint32_t)));
    for (auto& line : map.lines) {
        line = from.get<std::uint32_t>();
        if (line != SourceMap::nowhere && !exists(line, map.tokens)) throw ProtocolError("a line of a token that isn't there");
    }
    intermediate.threadgroup_arrays.resize(from.count(least_array));
    for (auto& array : intermediate.threadgroup_arrays) {
        array.token = from.get<std::uint32_t>();
        array.bytes = from.get<std::uint64_t>();
        if (array.token != SourceMap::nowhere && !exists(array.token, map.tokens)) throw ProtocolError("an array without a name");
    }
    return intermediate;
}

std::string printable(std::string_view text) {
    std::string clean;
    clean.reserve(text.size());
    while (!text.empty()) {
        const auto length = sequence_length(text);
        const auto sequence = text.substr(0, length == 0 ? 1 : length);
        if (length == 0 || is_control(sequence)) {
            clean += "\xEF\xBF\xBD";
        } else {
            clean += sequence;
        }
        text.remove_prefix(sequence.size());
    }
    return clean;
}

}  // namespace kfp
