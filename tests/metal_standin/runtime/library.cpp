#include "library.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

#include "standin.hpp"

namespace standin {
namespace {

constexpr unsigned long function_type_kernel = 3;
constexpr unsigned long language_3_2 = 0x30002;
constexpr long compile_failure = 3;
constexpr long compile_warning = 4;
constexpr long function_not_found = 5;

// MTLDataType of the scalars; vectors of 2, 3 and 4 follow each.
const std::map<std::string, unsigned long> data_types{
    {"float", 3}, {"half", 16}, {"int", 29}, {"uint", 33}, {"short", 37}, {"ushort", 41}, {"char", 45},
    {"uchar", 49}, {"bool", 53}, {"long", 81}, {"ulong", 85}, {"bfloat", 121},
};
constexpr unsigned long data_type_struct = 1;

unsigned long data_type_of(std::string name) {
    unsigned long components = 1;
    if (!name.empty() && name.back() >= '2' && name.back() <= '4') {
        components = static_cast<unsigned long>(name.back() - '0');
        name.pop_back();
    }
    const auto found = data_types.find(name);
    return found == data_types.end() ? data_type_struct : found->second + components - 1;
}

std::size_t size_of(unsigned long data_type) {
    for (const auto& [name, scalar] : data_types) {
        if (data_type != scalar) continue;
        if (name == "long" || name == "ulong") return 8;
        if (name == "float" || name == "int" || name == "uint") return 4;
        return name == "bool" || name == "char" || name == "uchar" ? 1 : 2;
    }
    fail("a function constant of MTLDataType " + std::to_string(data_type));
}

// "device const float4* x" points at float4.
std::string element_type(const std::string& declared) {
    std::istringstream words(std::regex_replace(declared, std::regex("[*&]"), " "));
    std::string element;
    for (std::string word; words >> word;) {
        if (word != "device" && word != "constant" && word != "const" && word != "threadgroup") element = word;
    }
    return element;
}

const char* word_for(kfp::Severity severity) {
    switch (severity) {
        case kfp::Severity::note: return "note";
        case kfp::Severity::warning: return "warning";
        default: return "error";
    }
}

// As Apple's compiler words it, excerpt and all.
std::string text_of(const std::vector<kfp::Diagnostic>& diagnostics) {
    std::string text;
    for (const auto& [severity, line, column, message] : diagnostics) {
        text += "program_source:" + std::to_string(line) + ":" + std::to_string(column) + ": " + word_for(severity) +
                ": " + message + "\n    some line of the source: error: no error\n    ^\n";
    }
    return text;
}

std::shared_ptr<kfp::Library> compile_on_backing(const std::string& source, kfp::Math math,
                                                 std::vector<kfp::FunctionConstant> constants) {
    kfp::CompileOptions options;
    options.math = math;
    options.constants = std::move(constants);
    if (!configuration().backing) fail("no device is configured to compile with");
    return configuration().backing->compile(source, options);
}

}  // namespace

const Class& CompileOptions::its() {
    static const Class table{"MTLCompileOptions", make_blank<CompileOptions>, {
        method<&CompileOptions::set_fast_math>("setFastMathEnabled:", {10, 11}),
        method<&CompileOptions::set_language>("setLanguageVersion:", {10, 11}),
        method<&CompileOptions::set_math_mode>("setMathMode:", {15, 0}),
        method<&CompileOptions::set_math_functions>("setMathFloatingPointFunctions:", {15, 0}),
    }, {}};
    return table;
}

void CompileOptions::set_math_mode(long mode) {
    if (mode < 0 || mode > 2) fail("-[MTLCompileOptions setMathMode:] with " + std::to_string(mode));
    math_ = mode == 0 ? kfp::Math::precise : kfp::Math::fast;
}

void CompileOptions::set_math_functions(long functions) {
    if (functions != 0 && functions != 1) {
        fail("-[MTLCompileOptions setMathFloatingPointFunctions:] with " + std::to_string(functions));
    }
}

void CompileOptions::set_language(unsigned long version) {
    const unsigned long newest = configuration().macos >= Version{15, 0} ? language_3_2 : language_3_2 - 1;
    if (version > newest) fail("-[MTLCompileOptions setLanguageVersion:] with one that this macOS doesn't know");
}

const Class& FunctionConstant::its() {
    static const Class table{"MTLFunctionConstant", nullptr, {
        method<&FunctionConstant::index>("index", {10, 12}),
        method<&FunctionConstant::type>("type", {10, 12}),
    }, {}};
    return table;
}

const Class& FunctionConstantValues::its() {
    static const Class table{"MTLFunctionConstantValues", make_blank<FunctionConstantValues>, {
        method<&FunctionConstantValues::set>("setConstantValue:type:atIndex:", {10, 12}),
    }, {}};
    return table;
}

void FunctionConstantValues::set(const void* value, unsigned long type, unsigned long index) {
    const auto* bytes = static_cast<const std::byte*>(value);
    values_.push_back({static_cast<std::uint32_t>(index), {bytes, bytes + size_of(type)}});
}

const Class& Function::its() {
    static const Class table{"MTLFunction", nullptr, {
        method<&Function::name>("name", {10, 11}),
        method<&Function::type>("functionType", {10, 11}),
        method<&Function::constants>("functionConstantsDictionary", {10, 12}),
    }, {}};
    return table;
}

Function::Function(std::shared_ptr<kfp::Library> library, kfp::KernelInfo info, Ref<Dictionary> constants,
                   bool specialised)
    : Object(its()),
      library_(std::move(library)),
      info_(std::move(info)),
      name_(make<String>(info_.name)),
      constants_(std::move(constants)),
      specialised_(specialised) {}

unsigned long Function::type() const { return function_type_kernel; }

const Class& Library::its() {
    static const Class table{"MTLLibrary", nullptr, {
        method<&Library::names>("functionNames", {10, 11}),
        method<&Library::function>("newFunctionWithName:", {10, 11}),
        method<&Library::specialised>("newFunctionWithName:constantValues:error:", {10, 12}),
    }, {}};
    return table;
}

Library::Library(std::string source, kfp::Math math, std::shared_ptr<kfp::Library> compiled)
    : Object(its()), source_(std::move(source)), math_(math), compiled_(std::move(compiled)) {}

Library* Library::compile(String* source, CompileOptions* options, Error** error) {
    if (source == nullptr) fail("-[MTLDevice newLibraryWithSource:options:error:] without a source");
    const kfp::Math math = options == nullptr ? kfp::Math::fast : options->math();
    auto compiled = compile_on_backing(source->text(), math, {});
    const auto& report = compiled->report();
    const std::string text = text_of(report.diagnostics);
    if (!report.compile_ok) {
        put_error(error, compile_failure, text);
        return nullptr;
    }
    if (!text.empty()) put_error(error, compile_warning, text);
    return make<Library>(source->text(), math, std::move(compiled)).give_up();
}

Array* Library::names() const {
    std::vector<Ref<Object>> names;
    for (const auto& kernel : compiled_->report().kernels) {
        names.push_back(Ref<Object>::adopt(make<String>(kernel.name).give_up()));
    }
    // Metal promises no order; a reversed one finds those who rely on it.
    std::ranges::reverse(names);
    return make<Array>(std::move(names)).autoreleased();
}

Ref<Dictionary> Library::declared_constants() const {
    static const std::regex declaration(R"((\w+)\s+(\w+)\s*\[\[\s*function_constant\s*\(\s*(\d+)\s*\)\s*\]\])");
    std::map<std::string, Ref<Object>> constants;
    for (std::sregex_iterator it(source_.begin(), source_.end(), declaration), end; it != end; ++it) {
        auto constant = make<FunctionConstant>(std::stoul((*it)[3]), data_type_of((*it)[1]));
        constants[(*it)[2]] = Ref<Object>::adopt(constant.give_up());
    }
    return make<Dictionary>(std::move(constants));
}

Function* Library::find(const std::shared_ptr<kfp::Library>& compiled, String* name, bool specialised) const {
    const auto& kernels = compiled->report().kernels;
    const auto found = std::ranges::find(kernels, name->text(), &kfp::KernelInfo::name);
    if (found == kernels.end()) return nullptr;
    return make<Function>(compiled, *found, declared_constants(), specialised).give_up();
}

Function* Library::function(String* name) const { return find(compiled_, name, false); }

Function* Library::specialised(String* name, FunctionConstantValues* values, Error** error) const {
    const auto compiled = compile_on_backing(source_, math_, values->values());
    if (!compiled->report().compile_ok) {
        put_error(error, compile_failure, text_of(compiled->report().diagnostics));
        return nullptr;
    }
    Function* function = find(compiled, name, true);
    if (function == nullptr) put_error(error, function_not_found, "no function " + name->text());
    return function;
}

const Class& Binding::its() {
    static const Class table{"MTLBufferBinding", nullptr, {
        method<&Binding::name>("name", {13, 0}),
        method<&Binding::index>("index", {13, 0}),
        method<&Binding::type>("type", {13, 0}),
        method<&Binding::is_used>("isUsed", {13, 0}),
        method<&Binding::data_type>("bufferDataType", {13, 0}),
    }, {}};
    return table;
}

Binding::Binding(const kfp::Parameter& parameter)
    : Object(its()),
      name_(make<String>(parameter.name)),
      index_(parameter.index),
      threadgroup_(parameter.kind == kfp::ParameterKind::threadgroup),
      data_type_(data_type_of(element_type(parameter.type))) {}

const Class& Reflection::its() {
    static const Class table{"MTLComputePipelineReflection", nullptr, {
        method<&Reflection::bindings>("bindings", {13, 0}),
    }, {}};
    return table;
}

Reflection::Reflection(const kfp::KernelInfo& info) : Object(its()) {
    std::vector<Ref<Object>> bindings;
    for (const auto& parameter : info.parameters) {
        if (parameter.kind != kfp::ParameterKind::buffer && parameter.kind != kfp::ParameterKind::threadgroup) continue;
        bindings.push_back(Ref<Object>::adopt(make<Binding>(parameter).give_up()));
    }
    bindings_ = make<Array>(std::move(bindings));
}

const Class& Pipeline::its() {
    static const Class table{"MTLComputePipelineState", nullptr, {
        method<&Pipeline::max_threads>("maxTotalThreadsPerThreadgroup", {10, 11}),
        method<&Pipeline::width>("threadExecutionWidth", {10, 11}),
        method<&Pipeline::static_memory>("staticThreadgroupMemoryLength", {10, 13}),
    }, {}};
    return table;
}

Pipeline::Pipeline(const Function& function) : Object(its()), library_(function.library()), info_(function.info()) {}

Pipeline* Pipeline::create(Function* function, unsigned long options, Reflection** reflection, Error** error) {
    if (function == nullptr) fail("a pipeline made of no function");
    if (function->needs_constants()) fail("a pipeline made of a function whose constants have no values");
    if (!function->info().pipeline_error.empty()) {
        put_error(error, compile_failure, function->info().pipeline_error);
        return nullptr;
    }
    if (reflection != nullptr && options != 0) *reflection = make<Reflection>(function->info()).autoreleased();
    return make<Pipeline>(*function).give_up();
}

}  // namespace standin
