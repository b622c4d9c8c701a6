// The result of a decision: a value or a refusal. Refusals are values, not exceptions, so that every caller must handle them and invalid
// input is never mistaken for an internal fault.
import type { RefusalCode } from "./refusals.ts";

export interface Refusal<C extends RefusalCode = RefusalCode> {
  readonly ok: false;
  readonly code: C;
  /**
   * A more specific message than the default one for `code`, in fixed text. For `invalid_request`, it names the field and the rule that the
   * field breaks.
   */
  readonly detail?: string;
}

export type Result<T, C extends RefusalCode = RefusalCode> = { readonly ok: true; readonly value: T } | Refusal<C>;

export interface Fault<F extends string> {
  readonly ok: false;
  readonly fault: F;
}

/** The result of a check: the data that it confirmed, or the first fault found. */
export type Verdict<T, F extends string> = ({ readonly ok: true } & Readonly<T>) | Fault<F>;

export const fail = <F extends string>(fault: F): Fault<F> => ({ ok: false, fault });

export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });

/** Creates a refusal. `detail` must be constant text. */
export const refuse = <C extends RefusalCode>(code: C, detail?: string): Refusal<C> =>
  detail === undefined ? { ok: false, code } : { ok: false, code, detail };

/** Returns an error handler that turns certain database errors, such as an exceeded limit, into refusals. It rethrows every other error. */
export const refuseWhen =
  <C extends RefusalCode>(isRefusal: (error: unknown) => boolean, code: C) =>
  (error: unknown): Refusal<C> => {
    if (isRefusal(error)) return refuse(code);
    throw error;
  };
