// Tests packs in which the issuer changes one member of certificate.json, then renders and signs the pack again. A check must find the
// change, unless only the issuer attests the member.
import { expect, test } from "vitest";
import type { Json } from "../../../core/canonical-json.ts";
import { memoizeNoteCrypto } from "../../../core/ledger/note.ts";
import { minuteMs } from "../../../core/time.ts";
import { webCrypto } from "../../../verifier/crypto.ts";
import { trustOf } from "../../../verifier/trust.ts";
import { defaultVerificationOptions, verifyPack } from "../../../verifier/verify-pack.ts";
import { issuer, plainTrust } from "./evidence.ts";
import { buildHonestPacks } from "./lying-packs.ts";
import { readJson, resignFiles, setJson, withFittingPage, zipFiles } from "./repack.ts";

type Path = readonly string[];

const listLeaves = (value: Json, path: Path = []): readonly Path[] =>
  typeof value === "object" && value !== null && Object.keys(value).length > 0
    ? Object.entries(value).flatMap(([key, item]) => listLeaves(item as Json, [...path, key]))
    : [path];

const replaceAt = (value: Json, path: Path, change: (old: Json) => Json): Json => {
  const [key, ...rest] = path;
  if (key === undefined) return change(value);
  if (Array.isArray(value)) return value.map((item, at) => (String(at) === key ? replaceAt(item, rest, change) : item));
  const object = value as { readonly [name: string]: Json };
  return { ...object, [key]: replaceAt(object[key] as Json, rest, change) };
};

const changeOf = (old: Json): Json => {
  if (typeof old === "boolean") return !old;
  if (typeof old === "number") return old + 1;
  if (typeof old !== "string") return "2027-01-01T00:00:00.000Z";
  return /^\d{4}-.*Z$/.test(old) ? new Date(Date.parse(old) + 1_000).toISOString() : `${old}x`;
};

/** The members that docs/reference/evidence-pack.md lists under "What a pack does not prove". */
const issuersWord = /^(?:checks\.|identity\.|view_count$|status_list$|(?:withdrawal\.)?anchor\.anchored_at$)/;
const undisclosed = /^subject\./;

const crypto = memoizeNoteCrypto(webCrypto); // most signatures are the same in every pack, so each is checked only once
const packs = await buildHonestPacks();

test.each(packs.map(({ name, files }) => [name, files] as const))(
  "every member of a pack is bound: %s (T8)",
  { timeout: minuteMs },
  async (name, files) => {
    const certificate = readJson(files, "certificate.json") as Json;
    const believed: string[] = [];
    for (const path of listLeaves(certificate)) {
      const changed = new Map(files);
      setJson(changed, "certificate.json", replaceAt(certificate, path, changeOf));
      const options = { ...defaultVerificationOptions, trust: trustOf(plainTrust) };
      const { verdict } = await verifyPack(zipFiles(await resignFiles(withFittingPage(changed), issuer)), options, crypto);
      if (verdict === "valid") believed.push(path.join("."));
    }
    expect(believed.filter((member) => !issuersWord.test(member) && !(name === "redacted" && undisclosed.test(member)))).toEqual([]);
  },
);
