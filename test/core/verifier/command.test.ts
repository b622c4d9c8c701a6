// Tests svc-verify as it is released, as one built file that Node runs, and its exit codes.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildEvidenceZip } from "../../../core/certificates/evidence-pack.ts";
import { buildVerifier } from "../../../verifier/build.ts";
import type { Report } from "../../../verifier/checks.ts";
import { plainTrust, trustDocument, buildWorld } from "./evidence.ts";
import { flipBits } from "./repack.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-verify-"));
const inFolder = (name: string): string => join(folder, name);
const { fingerprint, parts } = await buildWorld({ isRevoked: true });
const zip = await buildEvidenceZip(parts);

beforeAll(async () => {
  await buildVerifier(folder);
  writeFileSync(inFolder("pack.zip"), zip);
  writeFileSync(inFolder("pending.zip"), await buildEvidenceZip((await buildWorld({ anchors: "pending" })).parts));
  writeFileSync(inFolder("plain.zip"), await buildEvidenceZip((await buildWorld({ anchors: "anchored" })).parts));
  writeFileSync(inFolder("changed.zip"), flipBits(zip, 5_000, 1));
  writeFileSync(inFolder("trust.json"), JSON.stringify(trustDocument, null, 2));
  writeFileSync(inFolder("plain-trust.json"), JSON.stringify(plainTrust));
  writeFileSync(inFolder("doubled.json"), '{"version":1,"version":1}');
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [inFolder("svc-verify.mjs"), ...args], { cwd: folder, encoding: "utf8" });
  return { status, stdout, stderr };
};
const trusted = ["--trust", "trust.json"];

describe("svc-verify", () => {
  test("exits with 0 when every check passed", () => {
    const { status, stdout, stderr } = run(
      "pack.zip",
      ...trusted,
      "--expect-fingerprint",
      fingerprint.toUpperCase(),
      "--require",
      "tsa,witness=1",
    );
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(stdout).toMatch(/^pass {4}zip\.structure/);
    expect(stdout.trimEnd()).toMatch(/VALID: every check passed\.$/);
  });

  test("runs without features newer than Node 20", () => {
    const newer = `for (const of of [Map, Object]) delete of.groupBy;
      for (const name of ["withResolvers", "try"]) delete Promise[name];
      for (const name of ["toHex", "toBase64", "setFromHex", "setFromBase64"]) delete Uint8Array.prototype[name];
      for (const name of ["fromHex", "fromBase64"]) delete Uint8Array[name];
      for (const name of ["union", "intersection", "difference", "isSubsetOf", "isSupersetOf", "isDisjointFrom"]) delete Set.prototype[name];
      for (const name of ["map", "filter", "take", "drop", "flatMap", "reduce", "toArray", "forEach", "some", "every", "find"])
        delete Iterator.prototype[name];
      delete Array.fromAsync; delete RegExp.escape; delete Error.isError; delete globalThis.Iterator;`;
    const aged = ["--import", `data:text/javascript,${encodeURIComponent(newer)}`, inFolder("svc-verify.mjs")];
    const { status, stdout, stderr } = spawnSync(process.execPath, [...aged, "pack.zip", ...trusted], { cwd: folder, encoding: "utf8" });
    expect([stderr, status]).toEqual(["", 0]);
    expect(stdout).toContain("VALID: every check passed.");
  });

  test.each<[string, number, readonly string[], RegExp]>([
    ["a trust document that requires no attestation", 0, ["plain.zip", "--trust", "plain-trust.json"], /VALID: every/],
    ["a changed byte", 1, ["changed.zip", ...trusted], /INVALID: the first check that failed is zip\.structure$/m],
    ["another fingerprint than expected", 1, ["pack.zip", ...trusted, "--expect-fingerprint", "0".repeat(64)], /failed is fp\.hash$/m],
    ["a ledger that has not confirmed", 3, ["pending.zip", ...trusted], /INCOMPLETE.*\n {2}anchor\.entry_hash/],
    ["no trust of the reader's own", 3, ["pack.zip"], /INCOMPLETE.*\n {2}trust:/],
    ["a required witness that is missing", 3, ["plain.zip", "--trust", "plain-trust.json", "--require", "witness=1"], /attest\.cosign/],
    ["a required timestamp that is missing", 3, ["plain.zip", "--trust", "plain-trust.json", "--require", "tsa"], /attest\.tsa/],
    [
      "a required timestamp that is missing, and a second --require",
      3,
      ["plain.zip", "--trust", "plain-trust.json", "--require", "tsa", "--require", "witness=1"],
      /INCOMPLETE.*\n(?: {2}.*\n)* {2}attest\.tsa/,
    ],
    ["a file that is not a pack", 1, ["trust.json", ...trusted], /zip\.structure/],
  ])("with %s exits with %d", (_, code, args, expected) => {
    const { status, stdout } = run(...args);
    expect(stdout).toMatch(expected);
    expect(status).toBe(code);
  });

  test.each<[string, readonly string[], RegExp]>([
    ["nothing", [], /path of a pack is required/],
    ["two packs", ["pack.zip", "pending.zip"], /only one pack/],
    ["an unknown option", ["pack.zip", "--fast"], /unknown option --fast/],
    ["an option without its value", ["pack.zip", "--trust"], /needs a value/],
    ["two trust files", ["pack.zip", ...trusted, "--trust", "plain-trust.json"], /--trust is accepted only once/],
    [
      "two fingerprints",
      ["pack.zip", "--expect-fingerprint", "0".repeat(64), "--expect-fingerprint", "1".repeat(64)],
      /--expect-fingerprint is accepted only once/,
    ],
    ["an invalid fingerprint", ["pack.zip", "--expect-fingerprint", "ABC"], /64 hex digits/],
    ["an unknown requirement", ["pack.zip", "--require", "blockchain"], /--require takes/],
    ["no witnesses", ["pack.zip", "--require", "witness=0"], /--require takes/],
    ["a missing pack", ["missing.zip", ...trusted], /cannot be read/],
    ["a missing trust file", ["pack.zip", "--trust", "missing.json"], /cannot be read/],
    ["an invalid trust file", ["pack.zip", "--trust", "pack.zip"], /not a trust document/],
    ["a trust file with a key twice", ["pack.zip", "--trust", "doubled.json"], /not a trust document/],
  ])("given %s exits with 2 and prints its usage", (_, args, expected) => {
    const { status, stdout, stderr } = run(...args);
    expect(stderr).toMatch(expected);
    expect(stderr).toContain("Usage: svc-verify");
    expect(stdout).toBe("");
    expect(status).toBe(2);
  });

  test("prints the report as JSON with --json", () => {
    const report = JSON.parse(run("changed.zip", "--json", ...trusted).stdout) as Report;
    expect(report).toMatchObject({ verdict: "invalid", failed: "zip.structure", trust: "given" });
    expect(report.checks[0]).toMatchObject({ id: "zip.structure", outcome: "fail", detail: "wrong_crc" });
  });

  test("prints its usage with --help", () => {
    expect(run("--help")).toMatchObject({ status: 0, stderr: "" });
  });

  test("runs through a link, as npm installs it", () => {
    symlinkSync(inFolder("svc-verify.mjs"), inFolder("svc-verify"));
    const { status, stdout } = spawnSync(process.execPath, [inFolder("svc-verify"), "pack.zip", ...trusted], {
      cwd: folder,
      encoding: "utf8",
    });
    expect(stdout).toContain("VALID: every check passed.");
    expect(status).toBe(0);
    expect(statSync(inFolder("svc-verify.mjs")).mode & 0o111).not.toBe(0);
  });

  test("is also a module that depends only on Node and has no side effects", async () => {
    const source = readFileSync(inFolder("svc-verify.mjs"), "utf8");
    expect([...source.matchAll(/^import .* from "([^"]+)"/gm)].map(([, from]) => from).sort()).toEqual([
      "node:fs",
      "node:fs/promises",
      "node:process",
      "node:url",
    ]);
    expect(source).not.toMatch(/\b(?:fetch|XMLHttpRequest|WebSocket|require)\(|node:crypto/);
    const module = (await import(pathToFileURL(inFolder("svc-verify.mjs")).href)) as typeof import("../../../verifier/cli.ts");
    const trust = module.trustOf(trustDocument);
    const demands = { trust, expectedFingerprint: null, requiresTimestamp: false, witnessMin: 0 };
    expect(await module.verifyPack(zip, demands)).toMatchObject({ verdict: "valid" });
    expect(await module.verifyPublic(parts.publicView, demands)).toMatchObject({ verdict: "valid" });
  });
});

describe("npm run verify", () => {
  test("builds and runs it with paths relative to the caller", () => {
    const { status, stdout } = spawnSync(process.execPath, ["scripts/verify.ts", "pack.zip", ...trusted], {
      encoding: "utf8",
      env: { ...process.env, INIT_CWD: folder },
    });
    expect(stdout).toContain("VALID: every check passed.");
    expect(status).toBe(0);
  });
});
