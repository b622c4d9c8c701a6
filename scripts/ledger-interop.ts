// Checks the embedded ledger with tools that are not ours: starts it alone, as it would run in another account, grows it past a
// full tile of tiles, and lets Go's own sumdb packages verify checkpoints, tiles, growth and one entry (test/interop/go).
// Needs Go and golang.org/x/mod, either from modules or from the Debian package golang-golang-x-mod-dev.
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
const { vkey: strangersVkey } = noteKeyPair(origin, new Uint8Array(32).fill(12));
const token = "token-of-the-ledger-interop";
const sizes = [1, 2, 255, 256, 257, 1_000, 65_537]; // around one tile and one tile of tiles
const buildEntry = (at: number): Uint8Array<ArrayBuffer> => encodeUtf8(`entry ${at}`);

const folder = mkdtempSync(join(tmpdir(), "ledger-interop-"));
const runtime = await startStandaloneLedger({ origin, secret, token, folder, port: Number(process.env.PORT ?? "0") });
const { base } = runtime;

const addEntries = async (from: number, to: number): Promise<void> => {
  for (let at = from; at < to; at += 256) {
    const entries = Array.from({ length: Math.min(256, to - at) }, (_, one) => buildEntry(at + one));
    const response = await fetch(`${base}/add-batch`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: encodeEntryBundle(entries),
    });
    if (response.status !== 200) throw new Error(`add-batch: ${response.status} ${await response.text()}`);
  }
};

/** The checkpoint over exactly this many entries; at most one a second is signed. */
const waitForCheckpoint = async (size: number): Promise<string> => {
  for (;;) {
    const note = await (await fetch(`${base}/checkpoint`)).text();
    if (note.split("\n")[1] === String(size)) return note;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
};

/** With modules where there is a go.mod, else with the packages of the system. */
const runGo = (...args: readonly string[]): { readonly ok: boolean; readonly said: string } => {
  const system = { GO111MODULE: "off", GOPATH: "/usr/share/gocode" };
  const env = { ...process.env, ...(existsSync("test/interop/go/go.mod") ? {} : system) };
  const { status, stdout, stderr, error } = spawnSync("go", ["run", ".", ...args], { cwd: "test/interop/go", env, encoding: "utf8" });
  if (error !== undefined) throw new Error("Go is not installed");
  return { ok: status === 0, said: `${stdout}${stderr}` };
};

let failed = false;
const expectTrue = (what: string, holds: boolean, said: string): void => {
  console.log(`${holds ? "ok  " : "FAIL"} ${what}`);
  if (!holds) {
    failed = true;
    console.log(said);
  }
};

try {
  const olds: string[] = [];
  let size = 0;
  for (const next of sizes) {
    await addEntries(size, next);
    size = next;
    const path = join(folder, `checkpoint-${next}.txt`);
    writeFileSync(path, await waitForCheckpoint(next));
    olds.push(path);
  }
  const entryFile = join(folder, "entry.bin");
  writeFileSync(entryFile, buildEntry(300));
  const common = ["-url", base, "-vkey", vkey];

  const whole = runGo(...common, ...olds.flatMap((path) => ["-old", path]), "-index", "300", "-entry", entryFile);
  expectTrue("Go verifies the checkpoint, all tiles, the growth since every checkpoint, and an entry", whole.ok, whole.said);
  console.log(whole.said.trimEnd());

  // What must fail does, so that the check above means something.
  const stranger = runGo("-url", base, "-vkey", strangersVkey);
  expectTrue("Go refuses the checkpoint under another key", !stranger.ok && stranger.said.includes("checkpoint:"), stranger.said);
  const elsewhere = runGo(...common, "-index", "301", "-entry", entryFile);
  expectTrue("Go refuses the entry at another index", !elsewhere.ok && elsewhere.said.includes("entry 301"), elsewhere.said);
} finally {
  await runtime.dispose();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
