// The shape of a catalogue, taken from the English one: a language that lacks a sentence, or has one too many, does not
// compile. `{name}` in a sentence is where a value goes; test/pages checks that every language has the same ones.
import type { en } from "./en.ts";

/** The same places for words, filled in in another language. */
export type Translated<T> = { readonly [K in keyof T]: T[K] extends string ? string : Translated<T[K]> };

export type Messages = Translated<typeof en>;
