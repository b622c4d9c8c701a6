// Runs docs/guides/first-hour.md as printed: its script tag in a browser and its commands in a shell, against a local service and a
// receiver. test/interop/webhook-signatures.test.ts runs the guide's signature checks in four languages.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { verifySignature } from "../../core/webhooks/verify-signature.ts";
import { launchBrowser, openPage } from "../support/browser.ts";
import { startLocalService, type LocalService } from "../support/local-service.ts";

const text = readFileSync("docs/guides/first-hour.md", "utf8");
const extractBlocks = (language: string): string[] =>
  [...text.matchAll(/```([a-z]*)\n([\s\S]*?)```/g)].flatMap(([, blockLanguage, block]) =>
    blockLanguage === language ? [block as string] : [],
  );

interface ReceivedRequest {
  readonly body: string;
  readonly signature: string | undefined;
}

const folder = mkdtempSync(join(tmpdir(), "svc-first-hour-"));
const received: ReceivedRequest[] = [];
let receiver: Server;
let service: LocalService;

const startListening = (server: Server): Promise<string> =>
  new Promise((resolve) => server.listen(0, "localhost", () => resolve(`localhost:${(server.address() as AddressInfo).port}`)));

let hook: string;
beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    received.push({ body: Buffer.concat(parts).toString(), signature: request.headers["svc-signature"] as string | undefined });
    response.writeHead(204).end();
  });
  hook = await startListening(receiver);
  service = await startLocalService({ DEV_FETCH_ALLOW: hook });
});
afterAll(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the blocks one after another in one shell and returns what each one prints. */
const inShell = async (scripts: readonly string[], env: Readonly<Record<string, string>>): Promise<string[]> => {
  const mark = "---- the next block ----";
  const child = spawn("bash", ["-e", "-o", "pipefail", "-c", scripts.join(`\necho; echo '${mark}'\n`)], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  for await (const part of child.stdout) printed += String(part);
  return printed.split(mark);
};

/** Returns the responses in the printed output, in order. */
const parseResponses = (printed = ""): { ok: boolean; data: Record<string, unknown> }[] =>
  [...printed.matchAll(/\{"ok":.*?"request_id":"[^"]*"\}/g)].map(([match]) => JSON.parse(match));

describe("the first hour", () => {
  test("issues and withdraws a certificate with the printed commands", async () => {
    const { acme } = service.world;
    const [issued, checked, registered, pinged, withdrawn, contact] = await inShell(extractBlocks("sh"), {
      SVC: service.origin,
      CLIENT: acme.clients.live,
      KEY: acme.keys.live,
      OWNER: service.world.ownerEmail,
      SITE: "https://www.example.com",
      HOOK: `http://${hook}`,
    });
    const [certificate] = parseResponses(issued);
    expect(certificate?.data.cert_id).toMatch(/^cc_/);
    expect(checked).toContain(`fingerprint matches: ${certificate?.data.fingerprint}`);
    const [, , endpoint] = parseResponses(registered);
    const secret = endpoint?.data.secret as string;
    expect(parseResponses(pinged)[0]?.data).toMatchObject({ delivered: true, response_status: 204 });
    expect(parseResponses(withdrawn)[0]?.data).toMatchObject({ cease_by: expect.stringMatching(/^\d{4}-/) });
    const [request, acknowledged] = parseResponses(contact);
    expect(JSON.stringify(request?.data)).toContain('"contactable":false');
    expect(acknowledged?.ok).toBe(true);

    const listReceivedTypes = () => received.map(({ body }) => (JSON.parse(body) as { type: string }).type);
    await vi.waitUntil(() => ["certificate.revoked", "business.ceased"].every((type) => listReceivedTypes().includes(type)), {
      timeout: 45_000,
    });
    expect(new Set(listReceivedTypes())).toEqual(new Set(["test.ping", "certificate.revoked", "business.ceased"]));
    for (const { body, signature } of received) expect(verifySignature(body, signature, secret, Date.now() / 1_000)).toBe(true);
  });

  test("certifies a submission with the printed tag and adds the certificate ID", async () => {
    const [form = ""] = extractBlocks("html");
    const sent: string[] = [];
    const site = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      if (request.method === "POST") sent.push(Buffer.concat(parts).toString());
      const page = form.replace("{cdn_url}", service.origin).replace("pc_test_...", service.world.acme.clients.sandbox);
      response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><html lang="en"><title>Quote</title>${page}`);
    });
    const at = await startListening(site);
    const browser = await launchBrowser();
    try {
      const { page } = await openPage(browser);
      await page.goto(`http://${at}/`);
      await page.getByLabel("Email", { exact: true }).fill("pat@example.com");
      await page.getByRole("checkbox", { name: /I agree/ }).check();
      await page.getByRole("button", { name: "Get my quote" }).click();
      await page.waitForURL("**/leads");
      const certId = new URLSearchParams(sent[0]).get("svc_cert_id");
      const verified = (await (await fetch(`${service.origin}/v1/certs/${certId}/verify`)).json()) as { data: Record<string, unknown> };
      expect(verified.data).toMatchObject({ environment: "sandbox", purpose: "solar quote follow-up", entities: ["Acme Solar LLC"] });
    } finally {
      await browser.close();
      site.closeAllConnections();
      site.close();
    }
  });
});
