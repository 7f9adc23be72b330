#ifndef KFP_TYPE_TRAITS_H
#define KFP_TYPE_TRAITS_H

#include "address_spaces.h"
#include "scalar.h"

namespace metal {

template <class T, T v>
struct integral_constant {
    static constexpr constant T value = v;
    typedef T value_type;
    typedef integral_constant type;
    constexpr operator T() const { return v; }
    constexpr T operator()() const { return v; }
};
template <bool v> using bool_constant = integral_constant<bool, v>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;

template <bool condition, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool condition, class T = void> using enable_if_t = typename enable_if<condition, T>::type;

template <bool condition, class T, class F> struct conditional { typedef T type; };
template <class T, class F> struct conditional<false, T, F> { typedef F type; };
template <bool condition, class T, class F> using conditional_t = typename conditional<condition, T, F>::type;

template <class...> using void_t = void;
template <class T> struct type_identity { typedef T type; };
template <class T> using type_identity_t = typename type_identity<T>::type;

// The compiler's own transformations (__remove_cv and so on) keep the address space, as Metal's do.
#define KFP_TRANSFORMATION(name, ...) \
    template <class T> struct name { typedef __VA_ARGS__ type; }; \
    template <class T> using name##_t = typename name<T>::type;
KFP_TRANSFORMATION(remove_const, __remove_const(T))
KFP_TRANSFORMATION(remove_volatile, __remove_volatile(T))
KFP_TRANSFORMATION(remove_cv, __remove_cv(T))
KFP_TRANSFORMATION(remove_pointer, __remove_pointer(T))
KFP_TRANSFORMATION(remove_extent, __remove_extent(T))
KFP_TRANSFORMATION(remove_all_extents, __remove_all_extents(T))
KFP_TRANSFORMATION(make_signed, __make_signed(T))
KFP_TRANSFORMATION(make_unsigned, __make_unsigned(T))
KFP_TRANSFORMATION(underlying_type, __underlying_type(T))
KFP_TRANSFORMATION(add_const, const T)
KFP_TRANSFORMATION(add_volatile, volatile T)
KFP_TRANSFORMATION(add_cv, const volatile T)
KFP_TRANSFORMATION(add_lvalue_reference, __add_lvalue_reference(T))
KFP_TRANSFORMATION(add_rvalue_reference, __add_rvalue_reference(T))
KFP_TRANSFORMATION(add_pointer, __add_pointer(T))
#undef KFP_TRANSFORMATION

}  // namespace metal

namespace __kfp {

template <class T> struct unqualified { typedef T type; };
template <class T> struct unqualified<const T> { typedef T type; };
#define KFP_UNQUALIFIED(space) \
    template <class T> struct unqualified<space T> { typedef T type; }; \
    template <class T> struct unqualified<const space T> { typedef T type; };
KFP_UNQUALIFIED(__global)
KFP_UNQUALIFIED(device)
KFP_UNQUALIFIED(__local)
KFP_UNQUALIFIED(__private)
KFP_UNQUALIFIED(__generic)
#undef KFP_UNQUALIFIED

template <class T> struct without_reference { typedef T type; };
template <class T> struct without_reference<T&> { typedef T type; };
template <class T> struct without_reference<T&&> { typedef T type; };

// The value type of a declaration: neither reference, const, volatile nor address space.
template <class T>
using plain = typename unqualified<__remove_cv(typename without_reference<T>::type)>::type;

}  // namespace __kfp

namespace metal {

template <class T> struct remove_reference { typedef typename __kfp::without_reference<T>::type type; };
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> struct remove_addrspace { typedef typename __kfp::unqualified<T>::type type; };
template <class T> using remove_addrspace_t = typename remove_addrspace<T>::type;
template <class T> struct decay { typedef __decay(__kfp::plain<T>) type; };
template <class T> using decay_t = typename decay<T>::type;

#define KFP_TRAIT(name, ...) \
    template <class T> struct name : bool_constant<__VA_ARGS__> {}; \
    template <class T> constexpr constant bool name##_v = name<T>::value;
KFP_TRAIT(is_void, __is_void(T))
KFP_TRAIT(is_array, __is_array(T))
KFP_TRAIT(is_pointer, __is_pointer(T))
KFP_TRAIT(is_lvalue_reference, __is_lvalue_reference(T))
KFP_TRAIT(is_rvalue_reference, __is_rvalue_reference(T))
KFP_TRAIT(is_reference, __is_reference(T))
KFP_TRAIT(is_enum, __is_enum(T))
KFP_TRAIT(is_union, __is_union(T))
KFP_TRAIT(is_class, __is_class(T))
KFP_TRAIT(is_function, __is_function(T))
KFP_TRAIT(is_const, __is_const(T))
KFP_TRAIT(is_volatile, __is_volatile(T))
KFP_TRAIT(is_trivial, __is_trivially_constructible(T) && __is_trivially_copyable(T))
KFP_TRAIT(is_trivially_copyable, __is_trivially_copyable(T))
KFP_TRAIT(is_standard_layout, __is_standard_layout(T))
KFP_TRAIT(is_empty, __is_empty(T))
KFP_TRAIT(is_polymorphic, __is_polymorphic(T))
KFP_TRAIT(is_abstract, __is_abstract(T))
KFP_TRAIT(is_final, __is_final(T))
KFP_TRAIT(is_integral, __is_integral(__kfp::plain<T>))
KFP_TRAIT(is_floating_point, __is_floating_point(__kfp::plain<T>))
KFP_TRAIT(is_arithmetic, __is_arithmetic(__kfp::plain<T>))
KFP_TRAIT(is_fundamental, __is_fundamental(__kfp::plain<T>))
KFP_TRAIT(is_signed, __is_signed(__kfp::plain<T>))
KFP_TRAIT(is_unsigned, __is_unsigned(__kfp::plain<T>))
KFP_TRAIT(is_scalar, __is_scalar(T))
KFP_TRAIT(is_object, __is_object(T))
KFP_TRAIT(is_compound, __is_compound(T))
KFP_TRAIT(is_default_constructible, __is_constructible(T))
KFP_TRAIT(is_copy_constructible, __is_constructible(T, const __generic T&))
#undef KFP_TRAIT

template <class T, class U> struct is_same : false_type {};
template <class T> struct is_same<T, T> : true_type {};
template <class T, class U> constexpr constant bool is_same_v = is_same<T, U>::value;
template <class From, class To> struct is_convertible : bool_constant<__is_convertible(From, To)> {};
template <class From, class To> constexpr constant bool is_convertible_v = is_convertible<From, To>::value;
template <class Base, class Derived> struct is_base_of : bool_constant<__is_base_of(Base, Derived)> {};
template <class Base, class Derived> constexpr constant bool is_base_of_v = is_base_of<Base, Derived>::value;
template <class T, class... A> struct is_constructible : bool_constant<__is_constructible(T, A...)> {};
template <class T, class... A> constexpr constant bool is_constructible_v = is_constructible<T, A...>::value;
template <class T, class U> struct is_assignable : bool_constant<__is_assignable(T, U)> {};
template <class T, class U> constexpr constant bool is_assignable_v = is_assignable<T, U>::value;

template <class T> struct rank : integral_constant<size_t, __array_rank(T)> {};
template <class T, unsigned dimension = 0> struct extent : integral_constant<size_t, __array_extent(T, dimension)> {};
template <class T> struct alignment_of : integral_constant<size_t, alignof(T)> {};

template <class T> struct negation : bool_constant<!T::value> {};
template <class...> struct conjunction : true_type {};
template <class T, class... U> struct conjunction<T, U...> : conditional_t<bool(T::value), conjunction<U...>, T> {};
template <class T> struct conjunction<T> : T {};
template <class...> struct disjunction : false_type {};
template <class T, class... U> struct disjunction<T, U...> : conditional_t<bool(T::value), T, disjunction<U...>> {};
template <class T> struct disjunction<T> : T {};

template <class T> add_rvalue_reference_t<T> declval() noexcept;

}  // namespace metal

#endif
