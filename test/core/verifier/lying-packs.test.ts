// Generates false packs from honest packs and a seed, and checks that verification rejects each of them. LYING_PACKS sets the number of
// packs; `npm run stress -- lying-packs` tries 10,000. LYING_SEED sets the first seed.
import { expect, test } from "vitest";
import { memoizeNoteCrypto } from "../../../core/ledger/note.ts";
import { minuteMs } from "../../../core/time.ts";
import { webCrypto } from "../../../verifier/crypto.ts";
import { trustOf } from "../../../verifier/trust.ts";
import { defaultVerificationOptions, verifyPack } from "../../../verifier/verify-pack.ts";
import { createProgressPrinter } from "../../support/progress.ts";
import { plainTrust } from "./evidence.ts";
import { buildHonestPacks, buildLyingPack } from "./lying-packs.ts";
import { zipFiles } from "./repack.ts";

const count = Number(process.env.LYING_PACKS ?? "400");
const firstSeed = Number(process.env.LYING_SEED ?? "1");
const honest = await buildHonestPacks();
const options = { ...defaultVerificationOptions, trust: trustOf(plainTrust) };
const crypto = memoizeNoteCrypto(webCrypto); // most signatures are the same in every pack, so each is checked only once

test.each(honest.map(({ name, files }) => [name, files] as const))("the honest pack is valid: %s", async (_, files) => {
  expect(await verifyPack(zipFiles(files), options, crypto)).toMatchObject({ verdict: "valid", missing: [] });
});

test(`none of ${count} lying packs is valid (T9)`, { timeout: 60 * minuteMs }, async () => {
  const progress = createProgressPrinter("lying packs", count);
  const believed: string[] = [];
  const found = new Map<string, number>();
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
    const { description, zip } = await buildLyingPack(honest, seed);
    const report = await verifyPack(zip, options, crypto);
    if (report.verdict === "valid") believed.push(description);
    const check = report.failed ?? report.missing[0]?.replace(/:.*/s, "") ?? "none";
    found.set(check, (found.get(check) ?? 0) + 1);
    progress(seed - firstSeed + 1);
  }
  console.log(`lying packs by the check that found them: ${JSON.stringify(Object.fromEntries([...found].sort()))}`);
  expect(believed).toEqual([]);
});
