// Changes that a dishonest issuer could make to the files of a pack.
import { serializeAuditEntry, type AuditEntry } from "../../../core/audit/chain.ts";
import type { Json, JsonObject } from "../../../core/canonical-json.ts";
import { readJson, setJson, setText, readText, type Files } from "./repack.ts";

export type Change = (files: Files) => unknown;

export const editJson =
  (path: string, change: (value: JsonObject) => Json): Change =>
  (files) =>
    setJson(files, path, change(readJson(files, path)));
export const editCertificate = (members: JsonObject): Change =>
  editJson("certificate.json", (certificate) => ({ ...certificate, ...members }));
export const editWithdrawal = (members: JsonObject): Change =>
  editJson("certificate.json", (c) => ({ ...c, withdrawal: { ...(c.withdrawal as JsonObject), ...members } }));

export const removeFiles =
  (...patterns: readonly RegExp[]): Change =>
  (files) => {
    for (const path of [...files.keys()]) if (patterns.some((pattern) => pattern.test(path))) files.delete(path);
  };
export const removeReceipts = removeFiles(/^(?:withdrawals|anchors\/withdrawn-1)\//);

export const readEntries = (files: ReadonlyMap<string, Uint8Array>): AuditEntry[] =>
  readText(files, "audit/entries.jsonl")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as AuditEntry);
export const writeEntries = (files: Files, entries: readonly AuditEntry[]): void =>
  setText(files, "audit/entries.jsonl", entries.map((entry) => `${serializeAuditEntry(entry)}\n`).join(""));

/** Removes the payloads of all audit entries of a type. */
export const removePayload =
  (type: string): Change =>
  (files) => {
    const removed = readEntries(files).filter((entry) => entry.type === type);
    editJson("audit/payloads.json", (payloads) =>
      Object.fromEntries(Object.entries(payloads).filter(([seq]) => !removed.some((entry) => entry.seq === seq))),
    )(files);
  };
/** Removes all audit entries of a type, with their payloads and proofs. */
export const removeEntry =
  (type: string): Change =>
  (files) => {
    removePayload(type)(files);
    const entries = readEntries(files);
    for (const { seq } of entries.filter((entry) => entry.type === type)) files.delete(`audit/${seq}.tlog-proof`);
    writeEntries(
      files,
      entries.filter((entry) => entry.type !== type),
    );
  };
