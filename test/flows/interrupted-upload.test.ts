// Tests that a deployment or rotation leaves no file with secrets on the machine if it is interrupted while it uploads them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "svc-upload-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("the file with the secrets is deleted after %s", async (signal) => {
  const cwd = mkdtempSync(join(folder, "clone-"));
  mkdirSync(join(cwd, "node_modules/.bin"), { recursive: true });
  // Prints the path of the file that it would upload, and then hangs until its parent has ended.
  const wrangler = `#!/bin/sh\nfor path; do :; done\necho "$path" > started\nsleep 5\n`;
  writeFileSync(join(cwd, "node_modules/.bin/wrangler"), wrangler, { mode: 0o755 });
  const script = `const { runWranglerWithSecrets } = await import(${JSON.stringify(resolve("scripts/deploy/wrangler.ts"))});
    await runWranglerWithSecrets({ INDEX_KEY: "secret" }, "secrets.upload", "secret", "bulk");`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], { cwd, stdio: "ignore" });
  const ended = once(child, "exit");
  const started = join(cwd, "started");
  await expect.poll(() => existsSync(started) && readFileSync(started, "utf8"), { timeout: 20_000 }).toBe("secrets.upload\n");
  expect(JSON.parse(readFileSync(join(cwd, "secrets.upload"), "utf8"))).toEqual({ INDEX_KEY: "secret" });
  child.kill(signal);
  expect(await ended).toEqual([130, null]);
  expect(existsSync(join(cwd, "secrets.upload"))).toBe(false);
});
