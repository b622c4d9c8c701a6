// A decision's answer: either a value or a refusal. Refusals are values, never exceptions, so that every caller
// must look at them and nothing a visitor types can take the path meant for faults.
import type { RefusalCode } from "./refusals.ts";

export interface Refusal<C extends RefusalCode = RefusalCode> {
  readonly ok: false;
  readonly code: C;
  /** For `invalid_request`: which input and which rule, in constant words; never the value that was sent. */
  readonly detail?: string;
}
export type Result<T, C extends RefusalCode = RefusalCode> = { readonly ok: true; readonly value: T } | Refusal<C>;

export interface Fault<F extends string> {
  readonly ok: false;
  readonly fault: F;
}
/** The answer of whoever checks a proof: what it shows, or the first thing that is wrong with it. */
export type Verdict<T, F extends string> = ({ readonly ok: true } & Readonly<T>) | Fault<F>;

export const fail = <F extends string>(fault: F): Fault<F> => ({ ok: false, fault });

export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });

export const refuse = <C extends RefusalCode>(code: C, detail?: string): Refusal<C> =>
  detail === undefined ? { ok: false, code } : { ok: false, code, detail };

/** For the fault of a change that means a refusal, such as a limit that the database keeps; any other stays a fault. */
export const refuseWhen =
  <C extends RefusalCode>(isThat: (error: unknown) => boolean, code: C, detail?: string) =>
  (error: unknown): Refusal<C> => {
    if (isThat(error)) return refuse(code, detail);
    throw error;
  };
