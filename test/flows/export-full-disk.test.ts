// Tests an export to a disk that has no room for the whole file. The system then writes only part of the bytes, without an error.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

test("fails if only part of a file could be written", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-full-disk-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const script = `
    import { randomBytes } from "node:crypto";
    import { openSealedWriter } from ${JSON.stringify(resolve("scripts/export/sealed-file.ts"))};
    const writer = openSealedWriter(${JSON.stringify(join(folder, "table.sealed"))}, new Uint8Array(32), "table.sealed");
    writer.writeLine(randomBytes(20_000).toString("base64"));
    writer.finish();`;
  // A limit of 8 KiB per file has the same effect as a full disk.
  const run = promisify(execFile)("bash", ["-c", 'ulimit -f 8; exec "$0" --input-type=module --eval "$1"', process.execPath, script]);
  await expect(run).rejects.toMatchObject({ stderr: expect.stringContaining("EFBIG") });
});
