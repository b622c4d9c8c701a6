// Builds variants of the default submission, including JSON that JSON.stringify cannot produce.
import { encodeUtf8 } from "../../core/bytes.ts";
import { buildSubmission, type ConsentBody } from "./world.ts";

export const buildSubmissionWith = (change: Record<string, unknown>): ConsentBody => ({ ...buildSubmission(), ...change });
export const omitField = (key: string): unknown => Object.fromEntries(Object.entries(buildSubmission()).filter(([name]) => name !== key));
export const buildSubmissionText = (change: Record<string, unknown> = {}): string => JSON.stringify(buildSubmissionWith(change));
/** Returns the submission as text, with this raw text as the value of `key`. */
export const spliceRaw = (key: string, raw: string): string => buildSubmissionText({ [key]: "@@" }).replace('"@@"', raw);
export const spliceBytes = (key: string, raw: readonly number[]): Uint8Array => {
  const [before = "", after = ""] = buildSubmissionText({ [key]: "a@@b" }).split("@@");
  return new Uint8Array([...encodeUtf8(before), ...raw, ...encodeUtf8(after)]);
};
export const padSubmission = (bytes: number): string =>
  buildSubmissionText() + " ".repeat(bytes - encodeUtf8(buildSubmissionText()).length);
export const nestArrays = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
export const spliceFields = (raw: string): string => spliceRaw("fields", raw);
export const buildFields = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, "x"]));
export const buildNames = (count: number): string[] => Array.from({ length: count }, (_, at) => `Recipient ${at}`);
