// Changes single bytes of a pack in up to three ways. A check must find each change. BYTE_STEP is the distance between changed bytes; `npm
// run stress` sets it to 1. tamper.test.ts makes random changes and tests which check finds them.
import { expect, test } from "vitest";
import { buildEvidenceZip, buildPackFiles } from "../../../core/certificates/evidence-pack.ts";
import { checkIds, type Report } from "../../../verifier/checks.ts";
import { memoizeNoteCrypto } from "../../../core/ledger/note.ts";
import { webCrypto } from "../../../verifier/crypto.ts";
import { trustOf } from "../../../verifier/trust.ts";
import { defaultVerificationOptions, verifyPack } from "../../../verifier/verify-pack.ts";
import { createProgressPrinter } from "../../support/progress.ts";
import { issuer, trustDocument, buildWorld } from "./evidence.ts";
import { flipBits, relistFiles, resignFiles, zipFiles, type Files } from "./repack.ts";

const step = Number(process.env.BYTE_STEP ?? "1999");
const masks = [0x01, 0x20, 0x80] as const; // flip the lowest bit, the bit that changes a letter's case, and the bit that ASCII never sets
type Masks = (at: number) => readonly number[];
const inThreeWays: Masks = () => masks;
const inOneWay: Masks = (at) => [masks[at % masks.length] as number]; // one way per byte, because all three would take an hour
const trust = trustOf(trustDocument);
const { parts } = await buildWorld({ isRevoked: true });
const pack = await buildPackFiles(parts);
const zip = await buildEvidenceZip(parts);
const crypto = memoizeNoteCrypto(webCrypto); // most signatures are the same in every changed pack, so each is checked only once

type IsFound = (report: Report) => boolean;
/** True if the verdict is `invalid` and the report names the failed check by a known ID. */
const isInvalid: IsFound = ({ verdict, failed }) => verdict === "invalid" && (checkIds as readonly string[]).includes(failed ?? "");
/** Also true if a required check could not be made: a cosignature with a changed witness name looks like one from an unknown witness. */
const isNotValid: IsFound = (report) => isInvalid(report) || (report.verdict === "incomplete" && report.missing.length > 0);

const listPlaces = (bytes: Uint8Array): number[] => Array.from({ length: Math.ceil(bytes.length / step) }, (_, at) => at * step);

/** Lists the changes of single bytes that the verifier did not detect. */
const findMissedChanges = async (
  what: string,
  files: ReadonlyMap<string, Uint8Array>,
  packed: (path: string, changed: Uint8Array) => Promise<Uint8Array> | Uint8Array,
  masksAt: Masks = inThreeWays,
  isFound: IsFound = isInvalid,
): Promise<string[]> => {
  const total = [...files.values()].reduce((sum, bytes) => sum + listPlaces(bytes).flatMap(masksAt).length, 0);
  const progress = createProgressPrinter(what, total);
  const missed: string[] = [];
  let doneCount = 0;
  for (const [path, bytes] of files) {
    for (const at of listPlaces(bytes)) {
      for (const mask of masksAt(at)) {
        const report = await verifyPack(await packed(path, flipBits(bytes, at, mask)), { ...defaultVerificationOptions, trust }, crypto);
        if (!isFound(report)) missed.push(`${path} ${at} ${mask}: ${report.verdict}`);
        doneCount += 1;
        progress(doneCount);
      }
    }
  }
  console.log(`${what}: ${doneCount} changes, ${missed.length} not found`);
  return missed;
};

const hour = 3_600_000;
const isManifest = (path: string): boolean => path === "manifest.json" || path.startsWith("MANIFEST.");
/** Files that the fingerprint covers, or that a third party attested. */
const isBound = (path: string): boolean =>
  /^(?:fingerprint\/|subject\/|policies\/.*txt$|anchors\/.*(?:statement\.json|proof|checkpoint\.txt)$|audit\/)/.test(path);
const selectFiles = (keep: (path: string) => boolean): Files => new Map([...pack].filter(([path]) => keep(path)));
const withFile = (path: string, changed: Uint8Array): Files => new Map(pack).set(path, changed);

test("finds every changed byte of the zip, in three ways (T1)", { timeout: hour }, async () => {
  expect(await findMissedChanges("bytes of the zip", new Map([["evidence.zip", zip]]), (_, changed) => changed)).toEqual([]);
});

test("finds every changed byte of every file, in three ways, after zipping again (T1)", { timeout: hour }, async () => {
  expect(await findMissedChanges("bytes of files, zipped again", pack, (path, changed) => zipFiles(withFile(path, changed)))).toEqual([]);
});

test("finds every changed byte of every file after listing and zipping again (T1)", { timeout: hour }, async () => {
  const listed = selectFiles((path) => !isManifest(path)); // listing the files again would undo a change to the lists
  const missed = await findMissedChanges(
    "bytes of files, listed again",
    listed,
    (path, changed) => zipFiles(relistFiles(withFile(path, changed))),
    inOneWay,
  );
  expect(missed).toEqual([]);
});

test("finds every changed byte bound by the fingerprint, a log or a witness after the issuer signs again (T1)", {
  timeout: hour,
}, async () => {
  const packChanged = async (path: string, changed: Uint8Array) => zipFiles(await resignFiles(withFile(path, changed), issuer));
  expect(await findMissedChanges("bytes of bound files, signed again", selectFiles(isBound), packChanged, inOneWay, isNotValid)).toEqual(
    [],
  );
});
