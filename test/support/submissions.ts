// Ways to write a submission that is nearly, but not quite, the default one.
import { utf8 } from "../../core/bytes.ts";
import { submission, type ConsentBody } from "./world.ts";

export const changed = (change: Record<string, unknown>): ConsentBody => ({ ...submission(), ...change });
export const without = (key: string): unknown => Object.fromEntries(Object.entries(submission()).filter(([name]) => name !== key));
export const text = (change: Record<string, unknown> = {}): string => JSON.stringify(changed(change));
/** The submission as text with `raw` put in place of a value that JSON.stringify would not write. */
export const spliced = (key: string, raw: string): string => text({ [key]: "@@" }).replace('"@@"', raw);
export const splicedBytes = (key: string, raw: readonly number[]): Uint8Array => {
  const [before = "", after = ""] = text({ [key]: "a@@b" }).split("@@");
  return new Uint8Array([...utf8(before), ...raw, ...utf8(after)]);
};
export const padded = (bytes: number): string => text() + " ".repeat(bytes - utf8(text()).length);
export const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
export const fieldsWith = (raw: string): string => spliced("fields", raw);
export const manyFields = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, "x"]));
export const manyNames = (count: number): string[] => Array.from({ length: count }, (_, at) => `Recipient ${at}`);
