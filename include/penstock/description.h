/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Structs that cross the API and may grow: each begins with `size_t size`, which its macro sets, and in each zero means
 * the default.
 *
 * In C such a macro takes designated initialisers in any order and gives an object of the struct's type, whose address
 * can be taken where it stands:
 *
 *     penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = 1024, .load.format = PENSTOCK_CS16), "auto");
 *
 * In C++20 the same holds; its initialisers come in the order of the fields, and those of a struct within in braces:
 *
 *     penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = 1024, .load = {.format = PENSTOCK_CS16}), "auto");
 *
 * In every C++ from C++14 on, which has no designated initialisers before C++20, the macro takes nothing, and fields
 * are set afterwards:
 *
 *     penstock_fft_desc desc = PENSTOCK_FFT_DESC();
 *     desc.n = 1024;
 *     desc.load.format = PENSTOCK_CS16;
 *     penstock_fft_plan(&plan, context, &desc, "auto");
 *
 * Macros of what the library fills in take nothing and no parentheses in either language:
 *
 *     penstock_plan_info info = PENSTOCK_PLAN_INFO;
 */
#ifndef PENSTOCK_DESCRIPTION_H
#define PENSTOCK_DESCRIPTION_H

#ifdef __cplusplus

/* The fields that are left out are meant to be: no warning of them where this macro is used. */
#pragma GCC system_header

/* A T with its size set, whose address may be taken though it is a temporary. It lives until the end of the full
 * expression, as a temporary does; a variable is to be of type T. */
template <typename T> struct penstock_description : T {
    constexpr explicit penstock_description(const T &fields) noexcept : T(fields)
    {
        this->size = sizeof(T);
    }
    constexpr const T *operator&() const noexcept
    {
        return this;
    }
};

/* clang goes by the header whose macro uses this one. */
#ifdef __clang__
#define PENSTOCK_DESCRIPTION(type, ...)                                                                    \
    (_Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wmissing-field-initializers\"") \
         penstock_description<type>(type{__VA_ARGS__}) _Pragma("clang diagnostic pop"))
#else
#define PENSTOCK_DESCRIPTION(type, ...) (penstock_description<type>(type{__VA_ARGS__}))
#endif

#else

/* A struct of this type with its size and the fields that follow set, the others being zero. */
#define PENSTOCK_DESCRIPTION(type, ...)   \
    (type)                                \
    {                                     \
        .size = sizeof(type), __VA_ARGS__ \
    }

#endif

#endif
