// Checks a local service's proofs with independent tools: Go's sumdb packages for the live logs, openssl for a timestamp that openssl
// created, sha256sum for the pack, and Python for every hash. Also runs svc-verify as it is distributed.
import { auditEntriesSql, buildAuditPositionSql, statementsSql } from "../support/statements-sql.ts";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { consentRequest } from "../../scripts/bench/submission.ts";
import { noteKeyPair } from "../../scripts/note-secret.ts";
import { buildVerifier } from "../../verifier/build.ts";
import { startLocalService, type LocalService } from "../support/local-service.ts";
import { OpensslTsa } from "../support/openssl-tsa.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-cross-"));
const buildPath = (name: string): string => join(folder, name);
const pack = buildPath("pack");
const tsa = new OpensslTsa({ key: "EC P-256" });
let stamping: Server;
let stampsAsked = 0;
let service: LocalService;
let certId = "";
let sent = 0;

interface CommandResult {
  readonly status: number | null;
  readonly output: string;
}
const run = (command: string, args: readonly string[], cwd = folder): CommandResult => {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (error !== undefined) throw new Error(`${command} is not there: npm test installs it`);
  return { status, output: `${stdout}${stderr}` };
};

const go = (...args: readonly string[]): CommandResult => run(buildPath("check-log"), args);

/** Issues `count` certificates, waits until they are anchored and logged, and returns the first one's ID. */
const issue = async (count: number): Promise<string> => {
  const ids: string[] = [];
  for (let doneCount = 0; doneCount < count; doneCount += 20) {
    const wave = await Promise.all(
      Array.from({ length: Math.min(20, count - doneCount) }, async () => {
        const { headers, body } = consentRequest(service.world.acme, "https://www.example.com", sent++);
        const response = await fetch(`${service.origin}/v1/consent`, { method: "POST", headers: { ...headers }, body: body as string });
        return ((await response.json()) as { data: { cert_id: string } }).data.cert_id;
      }),
    );
    ids.push(...wave);
  }
  await service.runtime.scheduled("* * * * *");
  await waitForAnchors();
  return ids[0] as string;
};

const countRows = async (sql: string): Promise<number> => Number((await service.database.prepare(sql).first<{ n: number }>())?.n);

/** Runs the cron jobs until every statement is anchored and every audit entry is logged. */
const waitForAnchors = async (): Promise<void> => {
  for (let attempt = 0; attempt < 60; attempt += 1) {
    const anchors = await countRows(`SELECT COUNT(*) AS n FROM ${statementsSql} WHERE status <> 'anchored'`);
    const entries = await countRows(`SELECT COUNT(*) AS n FROM ${auditEntriesSql} WHERE ord > ${buildAuditPositionSql("00")}`);
    if (anchors + entries === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
    await service.runtime.scheduled("* * * * *");
  }
  throw new Error("the ledger did not take everything");
};

const saveResponse = async (url: string, name: string, key = service.world.acme.keys.live): Promise<string> => {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  writeFileSync(buildPath(name), new Uint8Array(await response.arrayBuffer()));
  return buildPath(name);
};

interface TrustFile {
  readonly logs: readonly { readonly origin: string; readonly vkey: string; readonly role: string }[];
}
const findVerifierKey = (role: string): string => {
  const trust = JSON.parse(readFileSync(buildPath("trust.json"), "utf8")) as TrustFile;
  return trust.logs.find((log) => log.role === role)?.vkey ?? "";
};

beforeAll(async () => {
  const built = spawnSync("go", ["build", "-o", buildPath("check-log"), "."], {
    cwd: "test/interop/go",
    env: { ...process.env, GO111MODULE: "off", GOPATH: "/usr/share/gocode", GOFLAGS: "" },
    encoding: "utf8",
  });
  if (built.status !== 0) throw new Error(`Go or its sumdb packages are missing; npm test installs them. ${built.stderr ?? ""}`);
  stamping = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      stampsAsked += 1;
      response.writeHead(200, { "content-type": "application/timestamp-reply" }).end(tsa.reply(Buffer.concat(parts)));
    });
  });
  await new Promise<void>((resolve) => stamping.listen(0, "127.0.0.1", resolve));
  const authority = {
    name: "tsa.test",
    url: `http://127.0.0.1:${(stamping.address() as AddressInfo).port}/tsr`,
    spki_sha256: sha256Hex(tsa.spki()),
    pem: tsa.root(),
  };
  await buildVerifier(folder);
  service = await startLocalService({ TIMESTAMP_AUTHORITIES: JSON.stringify([authority]), DEV_RATE_SCALE: "100000" });
  certId = await issue(20);
  await saveResponse(`${service.origin}/ledger/2026h2/checkpoint`, "ledger-old.txt");
  await saveResponse(`${service.origin}/audit/00/checkpoint`, "audit-old.txt");
  await issue(280); // adds more entries than one tile holds
  await service.runtime.scheduled("*/15 * * * *");
  await service.runtime.scheduled("* * * * *");
  await saveResponse(`${service.origin}/.well-known/svc-trust.json`, "trust.json");
  await saveResponse(`${service.origin}/v1/certs/${certId}/evidence-pack?format=zip`, "evidence.zip");
  mkdirSync(pack);
  execFileSync("unzip", ["-q", buildPath("evidence.zip"), "-d", pack]);
}, 120_000);

afterAll(async () => {
  await service?.stop();
  stamping?.close();
  tsa.remove();
  rmSync(folder, { recursive: true, force: true });
});

describe("Go's sumdb packages (X1)", () => {
  test("verify the live ledger: checkpoint, every tile, the growth since an earlier checkpoint, and this certificate's statement", () => {
    const receipt = JSON.parse(readFileSync(join(pack, "anchors/issued/receipt.json"), "utf8")) as { leaf_index: string };
    const entry = ["-index", receipt.leaf_index, "-entry", join(pack, "anchors/issued/statement.json")];
    const complete = go(
      "-url",
      `${service.origin}/ledger/2026h2`,
      "-vkey",
      findVerifierKey("primary"),
      "-old",
      buildPath("ledger-old.txt"),
      ...entry,
    );
    expect(complete.status, complete.output).toBe(0);
  });

  test("verify the live audit log, and this certificate's entry in it", () => {
    const [line] = readFileSync(join(pack, "audit/entries.jsonl"), "utf8").split("\n") as [string];
    const proof = readFileSync(join(pack, `audit/${(JSON.parse(line) as { seq: string }).seq}.tlog-proof`), "utf8");
    writeFileSync(buildPath("entry.bin"), Buffer.from(sha256Hex(line), "hex"));
    const index = /^index (\d+)$/m.exec(proof)?.[1] ?? "";
    const entry = ["-index", index, "-entry", buildPath("entry.bin")];
    const complete = go(
      "-url",
      `${service.origin}/audit/00`,
      "-vkey",
      findVerifierKey("audit"),
      "-old",
      buildPath("audit-old.txt"),
      ...entry,
    );
    expect(complete.status, complete.output).toBe(0);
  });

  test("refuse another key, another entry, and another history", () => {
    const url = ["-url", `${service.origin}/ledger/2026h2`];
    const stranger = noteKeyPair("localhost/ledger/2026h2", new Uint8Array(32).fill(9)).vkey;
    expect(go(...url, "-vkey", stranger).status).not.toBe(0);
    const entry = ["-index", "1", "-entry", buildPath("trust.json")];
    expect(go(...url, "-vkey", findVerifierKey("primary"), ...entry).status).not.toBe(0);
    expect(go(...url, "-vkey", findVerifierKey("primary"), "-old", buildPath("audit-old.txt")).status).not.toBe(0);
  });
});

describe("openssl (X2)", () => {
  const verify = (data: string): CommandResult => {
    const authority = run("sh", ["-c", "ls trust/tsa-*.pem"], pack).output.trim();
    return run("openssl", ["ts", "-verify", "-data", data, "-in", "anchors/issued/checkpoint.tsr", "-CAfile", authority], pack);
  };

  test("verifies the pack's timestamp over the ledger's checkpoint", () => {
    expect(stampsAsked).toBeGreaterThan(0);
    const { status, output } = verify("anchors/issued/checkpoint.txt");
    expect(output).toContain("Verification: OK");
    expect(status).toBe(0);
  });

  test("refuses the timestamp over other bytes", () => {
    writeFileSync(buildPath("other.txt"), `${readFileSync(join(pack, "anchors/issued/checkpoint.txt"), "utf8")}x`);
    expect(verify(buildPath("other.txt")).status).not.toBe(0);
  });

  test("verifies the issuer's signature over the preimage, as README.txt says", () => {
    const { signature } = JSON.parse(readFileSync(join(pack, "certificate.json"), "utf8")) as { signature: { kid: string; value: string } };
    writeFileSync(buildPath("signature.bin"), Buffer.from(signature.value, "base64"));
    const args = ["-verify", "-pubin", "-inkey", `trust/issuer-${signature.kid}.pem`, "-rawin", "-in", "fingerprint/preimage.json"];
    expect(run("openssl", ["pkeyutl", ...args, "-sigfile", buildPath("signature.bin")], pack).output).toContain(
      "Signature Verified Successfully",
    );
  });
});

describe("sha256sum (X3)", () => {
  test("confirms every file of the pack against the manifest", () => {
    const { status, output } = run("sha256sum", ["--strict", "-c", "MANIFEST.sha256"], pack);
    expect(status, output).toBe(0);
  });
});

describe("Python (X5)", () => {
  const script = join(process.cwd(), "test/interop/fingerprints.py");

  test("recomputes every vector byte for byte (F1)", () => {
    const { status, output } = run("python3", [script, "vectors", join(process.cwd(), "test/vectors/ledger.json")]);
    expect(status, output).toBe(0);
    expect(output).toContain("6 fingerprints");
  });

  test("recomputes the pack's fingerprint, commitments, statement and audit hashes", () => {
    const { status, output } = run("python3", [script, "pack", pack]);
    expect(status, output).toBe(0);
  });

  test("fails on a changed disclosure", () => {
    execFileSync("cp", ["-r", pack, buildPath("changed")]);
    writeFileSync(buildPath("changed/fingerprint/disclosure.txt"), "something else");
    expect(run("python3", [script, "pack", buildPath("changed")]).status).toBe(1);
  });
});

describe("svc-verify as it is distributed", () => {
  const verify = (...args: readonly string[]): CommandResult =>
    run(process.execPath, [buildPath("svc-verify.mjs"), buildPath("evidence.zip"), ...args]);

  test("passes every check of a live pack, including the timestamp", () => {
    const { status, output } = verify("--trust", buildPath("trust.json"), "--require", "tsa");
    expect(status, output).toBe(0);
  });

  test("passes a certificate exported before the log recorded its business", async () => {
    const { other } = service.world;
    const { headers, body } = consentRequest(other, "https://www.other.example", sent++);
    const response = await fetch(`${service.origin}/v1/consent`, { method: "POST", headers: { ...headers }, body: body as string });
    const { data } = (await response.json()) as { data: { cert_id: string } };
    await service.runtime.scheduled("* * * * *"); // runs the every-minute jobs, but not the 15-minute jobs
    await waitForAnchors();
    await saveResponse(`${service.origin}/v1/certs/${data.cert_id}/evidence-pack?format=zip`, "first.zip", other.keys.live);
    // The timestamp is created with the 15-minute checkpoint, so it is not required here.
    writeFileSync(buildPath("trust-alone.json"), JSON.stringify({ ...JSON.parse(readFileSync(buildPath("trust.json"), "utf8")), tsa: [] }));
    const { status, output } = run(process.execPath, [
      buildPath("svc-verify.mjs"),
      buildPath("first.zip"),
      "--trust",
      buildPath("trust-alone.json"),
    ]);
    expect(status, output).toBe(0);
  });

  test("exits with status 3 when a required witness is not configured or there is no trust file", () => {
    expect(verify("--trust", buildPath("trust.json"), "--require", "witness=1").status).toBe(3);
    expect(verify().status).toBe(3);
  });
});
