#include "device/metal/reflection.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "device/metal/objects.hpp"

namespace kfp::metal {
namespace {

// Scalar types, each followed in the enumeration by its vectors of 2, 3 and 4.
constexpr std::array<std::pair<MTL::DataType, std::string_view>, 12> scalars{{
    {MTL::DataTypeFloat, "float"},
    {MTL::DataTypeHalf, "half"},
    {MTL::DataTypeBFloat, "bfloat"},
    {MTL::DataTypeInt, "int"},
    {MTL::DataTypeUInt, "uint"},
    {MTL::DataTypeShort, "short"},
    {MTL::DataTypeUShort, "ushort"},
    {MTL::DataTypeChar, "char"},
    {MTL::DataTypeUChar, "uchar"},
    {MTL::DataTypeBool, "bool"},
    {MTL::DataTypeLong, "long"},
    {MTL::DataTypeULong, "ulong"},
}};

std::string type_name(MTL::DataType type) {
    if (type == MTL::DataTypeStruct) return "struct";
    if (type == MTL::DataTypeArray) return "array";
    for (const auto& [scalar, name] : scalars) {
        if (type == scalar) return std::string(name);
        if (type > scalar && type - scalar < 4) return std::string(name) + std::to_string(type - scalar + 1);
    }
    return {};
}

ParameterKind kind_of(MTL::BindingType type) {
    switch (type) {
        case MTL::BindingTypeBuffer: return ParameterKind::buffer;
        case MTL::BindingTypeThreadgroupMemory: return ParameterKind::threadgroup;
        case MTL::BindingTypeTexture: return ParameterKind::texture;
        case MTL::BindingTypeSampler: return ParameterKind::sampler;
        default: return ParameterKind::other;
    }
}

}  // namespace

std::vector<Argument> arguments_of(const MTL::ComputePipelineReflection* reflection) {
    std::vector<Argument> arguments;
    const NS::Array* bindings = reflection == nullptr ? nullptr : reflection->bindings();
    const NS::UInteger count = bindings == nullptr ? 0 : bindings->count();
    for (NS::UInteger i = 0; i < count; ++i) {
        const auto* binding = bindings->object<MTL::Binding>(i);
        Argument argument;
        argument.used = binding->isUsed();
        argument.parameter.name = text_of(binding->name());
        argument.parameter.kind = kind_of(binding->type());
        argument.parameter.index = static_cast<std::uint32_t>(binding->index());
        if (argument.parameter.kind == ParameterKind::buffer) {
            argument.parameter.type = type_name(bindings->object<MTL::BufferBinding>(i)->bufferDataType());
        }
        arguments.push_back(std::move(argument));
    }
    std::ranges::sort(arguments, {}, [](const Argument& a) { return std::pair(a.parameter.kind, a.parameter.index); });
    return arguments;
}

}  // namespace kfp::metal
