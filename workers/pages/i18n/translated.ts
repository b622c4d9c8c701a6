// The type of a translation, derived from the English catalog.

/**
 * The same keys as the English catalog `T`, with any strings: a translation with a missing or extra message does not compile.
 * `{name}` in a message is a placeholder; test/pages checks that every language has the same placeholders.
 */
export type Translated<T> = { readonly [K in keyof T]: T[K] extends string ? string : Translated<T[K]> };
