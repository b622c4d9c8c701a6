// Checks the ledger with third-party code: starts it standalone, adds entries until a tile of the second level is full, and lets Go's sumdb
// packages verify checkpoints, tiles, consistency and one entry (test/interop/go). Needs Go and golang.org/x/mod, as a Go module or from
// the Debian package golang-golang-x-mod-dev.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeUtf8 } from "../core/bytes.ts";
import { encodeEntryBundle } from "../core/ledger/tiles.ts";
import { noteKeyPair } from "./note-secret.ts";
import { startStandaloneLedger } from "./standalone-ledger.ts";

const origin = "ledger.example/ledger/2026h2";
const { secret, vkey } = noteKeyPair(origin, new Uint8Array(32).fill(11));
const { vkey: otherVkey } = noteKeyPair(origin, new Uint8Array(32).fill(12));
const token = "token-of-the-ledger-interop";
// Includes sizes around a full tile of the first level (256) and of the second level (65,536).
const sizes = [1, 2, 255, 256, 257, 1_000, 65_537];
const buildEntry = (at: number): Uint8Array<ArrayBuffer> => encodeUtf8(`entry ${at}`);

const folder = mkdtempSync(join(tmpdir(), "ledger-interop-"));
const runtime = await startStandaloneLedger({ origin, secret, token, folder, port: Number(process.env.PORT ?? "0") });
const { base } = runtime;

const addEntries = async (from: number, to: number): Promise<void> => {
  for (let at = from; at < to; at += 256) {
    const entries = Array.from({ length: Math.min(256, to - at) }, (_, offset) => buildEntry(at + offset));
    const response = await fetch(`${base}/add-batch`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: encodeEntryBundle(entries),
    });
    if (response.status !== 200) throw new Error(`add-batch: ${response.status} ${await response.text()}`);
  }
};

/** Waits for the checkpoint over exactly `size` entries. The ledger signs at most one checkpoint per second. */
const waitForCheckpoint = async (size: number): Promise<string> => {
  for (;;) {
    const note = await (await fetch(`${base}/checkpoint`)).text();
    if (note.split("\n")[1] === String(size)) return note;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
};

/** Uses Go modules if there is a go.mod, otherwise the system packages. */
const runGo = (...args: readonly string[]): { readonly ok: boolean; readonly output: string } => {
  const system = { GO111MODULE: "off", GOPATH: "/usr/share/gocode" };
  const env = { ...process.env, ...(existsSync("test/interop/go/go.mod") ? {} : system) };
  const { status, stdout, stderr, error } = spawnSync("go", ["run", ".", ...args], { cwd: "test/interop/go", env, encoding: "utf8" });
  if (error !== undefined) throw new Error("Go is not installed.");
  return { ok: status === 0, output: `${stdout}${stderr}` };
};

let failed = false;
const expectTrue = (claim: string, isTrue: boolean, output: string): void => {
  console.log(`${isTrue ? "ok  " : "FAIL"} ${claim}`);
  if (!isTrue) {
    failed = true;
    console.log(output);
  }
};

try {
  const checkpoints: string[] = [];
  let size = 0;
  for (const next of sizes) {
    await addEntries(size, next);
    size = next;
    const path = join(folder, `checkpoint-${next}.txt`);
    writeFileSync(path, await waitForCheckpoint(next));
    checkpoints.push(path);
  }
  const entryFile = join(folder, "entry.bin");
  writeFileSync(entryFile, buildEntry(300));
  const common = ["-url", base, "-vkey", vkey];

  const result = runGo(...common, ...checkpoints.flatMap((path) => ["-old", path]), "-index", "300", "-entry", entryFile);
  expectTrue(
    "Go verifies the checkpoint, all tiles, the consistency with every earlier checkpoint, and an entry",
    result.ok,
    result.output,
  );
  console.log(result.output.trimEnd());

  // Go must also reject a different key and a different index. Without these checks, the successes above would prove nothing.
  const otherKey = runGo("-url", base, "-vkey", otherVkey);
  expectTrue("Go refuses the checkpoint under another key", !otherKey.ok && otherKey.output.includes("checkpoint:"), otherKey.output);
  const otherIndex = runGo(...common, "-index", "301", "-entry", entryFile);
  expectTrue("Go refuses the entry at another index", !otherIndex.ok && otherIndex.output.includes("entry 301"), otherIndex.output);
} finally {
  await runtime.dispose();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
