// Runs the commands of guides that have no test of their own, as printed, against a local service. Only the service URL and the certificate
// ID are replaced.
import { execFile } from "node:child_process";
import { createPublicKey, type JsonWebKey } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test, vi } from "vitest";
import { findEmailCode } from "../../scripts/bench/measured-service.ts";
import { consentRequest } from "../../scripts/bench/submission.ts";
import { startServiceForFile } from "../support/local-service.ts";
import { guidePath } from "../../scripts/guides.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "svc-guide-commands-"));
const service = await startServiceForFile();
let issuedBefore = 0;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Guide = "portal" | "withdrawal" | "evidence-pack" | "fingerprints" | "ledger" | "policies";
const readGuide = (guide: Guide): string => readFileSync(guidePath(guide), "utf8");
const listCommands = (guide: Guide): string[] =>
  [...readGuide(guide).matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block]) => block as string);
/** Returns the text of the only code block that starts with `beginning`. */
const readBlock = (guide: Guide, beginning: string): string => {
  const blocks = [...readGuide(guide).matchAll(/^```[a-z]*\n([\s\S]*?)^```/gm)].map(([, block]) => block as string);
  const found = blocks.filter((block) => block.startsWith(beginning));
  expect(found.length, beginning).toBe(1);
  return found[0] as string;
};

interface Issued {
  readonly cert_id: string;
  readonly fingerprint: string;
  readonly manage_url: string;
}
const issueCertificate = async (): Promise<Issued> => {
  issuedBefore += 1;
  const { headers, body } = consentRequest(service.world.acme, "https://www.example.com", issuedBefore);
  const response = await fetch(`${service.origin}/v1/consent`, { method: "POST", headers: { ...headers }, body: body as string });
  expect(response.status).toBe(201);
  return ((await response.json()) as { data: Issued }).data;
};

const inShell = async (script: string, more: Readonly<Record<string, string>> = {}): Promise<string> => {
  const here = script.replaceAll("https://api.example.com", service.origin).replaceAll("cc_…", more.CERT ?? "cc_…");
  const env = { ...process.env, KEY: service.world.acme.keys.live, ...more };
  return (await run("bash", ["-e", "-o", "pipefail", "-c", here], { cwd: folder, env })).stdout;
};

describe("the commands of the guides", () => {
  test("create a business account with the emailed code", async () => {
    const [block = "", ...others] = listCommands("portal");
    expect(others).toEqual([]);
    const [signUp = "", verify = ""] = block.split("\n\n");
    const email = "owner@guide-commands.example";
    const runCall = async (command: string): Promise<{ ok: boolean; data: Record<string, unknown> }> =>
      JSON.parse(
        await inShell(command.replace("curl ", "curl -s ").replace("owner@acme-solar.example", email), { API: `${service.origin}/v1` }),
      );
    const signedUp = await runCall(signUp);
    expect([signedUp.ok, signedUp.data.code_sent]).toEqual([true, true]);
    const signedIn = await runCall(verify.replace("042917", (await findEmailCode(service.origin, email)) ?? ""));
    expect(signedIn.ok).toBe(true);
    const members = await runCall('curl "$API/business/portal/members" -b cookies');
    expect(members.data).toMatchObject({ members: [{ email, role: "owner" }] });
  });

  test("record withdrawals for all recipients or one, acknowledge that contact has ceased, and check before a campaign", async () => {
    const [block = "", ...others] = listCommands("withdrawal");
    expect(others).toEqual([]);
    const [complete, single] = [await issueCertificate(), await issueCertificate()];
    const responses: { ok: boolean; data: Record<string, unknown> }[] = [];
    const parts = block.split(/\n\n/);
    for (const part of parts) {
      const CERT = part.includes("entities") ? single.cert_id : complete.cert_id;
      responses.push(JSON.parse(await inShell(part.replaceAll("curl ", "curl -s "), { CERT })));
    }
    expect(responses.map(({ ok }) => ok)).toEqual(parts.map(() => true));
    expect(responses.at(-1)?.data.results).toHaveLength(2);
    const getStatus = async ({ cert_id: id }: Issued): Promise<string> =>
      ((await (await fetch(`${service.origin}/v1/certs/${id}/verify`)).json()) as { data: { status: string } }).data.status;
    expect([await getStatus(complete), await getStatus(single)]).toEqual(["revoked", "active"]);
  });

  test("save an evidence pack", async () => {
    const { cert_id: CERT } = await issueCertificate();
    const [exporting = "", ...others] = listCommands("evidence-pack");
    expect(others.map((block) => block.split(" ", 3).join(" "))).toEqual(["npm run verify", "jq -j .data.canonical"]);
    await service.runtime.scheduled("* * * * *");
    await vi.waitFor(
      async () => {
        await inShell(exporting.replace("curl ", "curl -sf "), { CERT });
        expect(readdirSync(folder).filter((name) => name.endsWith(".zip")).length).toBe(1);
      },
      { timeout: 30_000, interval: 1_000 },
    );
    const [name = ""] = readdirSync(folder).filter((file) => file.endsWith(".zip"));
    expect(readFileSync(join(folder, name)).subarray(0, 2).toString()).toBe("PK");
  });

  test("check the receipt of a withdrawal", async () => {
    const { cert_id: id, manage_url: manageUrl } = await issueCertificate();
    const withdrawn = await fetch(`${service.origin}/v1/certs/${id}/opt-out/manage`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token: manageUrl.split("#m=")[1] }),
    });
    expect(withdrawn.status).toBe(200);
    const receipt = await (await fetch(`${service.origin}/v1/certs/${id}/receipt`)).text();
    const { issuer_keys } = (await (await fetch(`${service.origin}/.well-known/svc-trust.json`)).json()) as {
      issuer_keys: { keys: [JsonWebKey] };
    };
    const key = createPublicKey({ key: issuer_keys.keys[0], format: "jwk" });
    writeFileSync(join(folder, "issuer.pem"), key.export({ type: "spki", format: "pem" }));
    const [, , block = ""] = listCommands("evidence-pack");
    writeFileSync(join(folder, "withdrawal.json"), receipt);
    expect(await inShell(block)).toContain("Signature Verified Successfully");
    writeFileSync(join(folder, "withdrawal.json"), receipt.replace('"canonical":"{', '"canonical":"{ '));
    await expect(inShell(block)).rejects.toMatchObject({ stdout: expect.stringContaining("Signature Verification Failure") });
  });

  test("print the fingerprint", async () => {
    const { cert_id: CERT, fingerprint } = await issueCertificate();
    const [block = "", ...others] = listCommands("fingerprints");
    expect(others).toEqual([]);
    expect(await inShell(block, { CERT })).toBe(`${fingerprint}  -\n`);
  });

  test("check a statement, a checkpoint and a proof of the logs", async () => {
    const [hashing = "", checking = "", ...others] = listCommands("ledger");
    expect(others).toEqual([]);
    const statement = readBlock("ledger", '{"entity_id"').trimEnd();
    const [, entryHash = ""] = /SHA-256 of the statement, hex \| `([0-9a-f]{64})`/.exec(readGuide("ledger")) ?? [];
    expect(await inShell(hashing, { statement })).toBe(`${entryHash}  -\n`);

    const checkpoint = readBlock("ledger", "svc.example/audit/0\n");
    writeFileSync(join(folder, "checkpoint.txt"), checkpoint);
    expect(await inShell(checking)).toContain("Signature Verified Successfully");
    writeFileSync(join(folder, "checkpoint.txt"), checkpoint.replace("\n3\n", "\n4\n"));
    await expect(inShell(checking)).rejects.toMatchObject({ stdout: expect.stringContaining("Signature Verification Failure") });

    const [, ...unsized] = checkpoint.split("\n3\n");
    const proof = readBlock("ledger", "c2sp.org/tlog-proof").replace("…\n", unsized.join(""));
    const [, entry = ""] = /`entry\.bin` contains the 32 bytes of the hash `([0-9a-f]{64})`/.exec(readGuide("ledger")) ?? [];
    writeFileSync(join(folder, "inclusion.py"), readBlock("ledger", "# python3 inclusion.py"));
    writeFileSync(join(folder, "entry.tlog-proof"), proof);
    writeFileSync(join(folder, "entry.bin"), Buffer.from(entry, "hex"));
    const check = "python3 inclusion.py entry.tlog-proof entry.bin";
    expect(await inShell(check)).toBe("in the log\n");
    writeFileSync(join(folder, "entry.bin"), Buffer.from(entryHash, "hex"));
    expect(await inShell(check)).toBe("NOT in the log\n");
  });

  test("print the hash of the example policy text", async () => {
    const [block = "", ...others] = listCommands("policies");
    expect(others).toEqual([]);
    const [, example = ""] = /has the text\n\n```\n([\s\S]*?)\n```/.exec(readGuide("policies")) ?? [];
    const [, hash = ""] = /and the hash `([0-9a-f]{64})`/.exec(readGuide("policies")) ?? [];
    expect(await inShell(block, { text: example })).toBe(`${hash}  -\n`);
  });
});
