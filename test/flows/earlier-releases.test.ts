// Tests that files of earlier releases still work with this version: page scripts in browser caches, the developer kit, and svc-verify.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import type { Svc, SvcOptions } from "../../kit/client.ts";
import { openPage } from "../support/browser.ts";
import { startServiceAndBrowser } from "../support/service-and-browser.ts";
import { findEmailCode } from "../support/local-session.ts";
import {
  readFormValues,
  recordEvents,
  shareButtonSelector,
  waitUntilClickable,
  waitUntilClosed,
  type ReceivedEvent,
} from "../support/share-visit.ts";

const releases = readdirSync("test/releases");
const folder = mkdtempSync(join(tmpdir(), "svc-earlier-releases-"));
const { service, browser } = await startServiceAndBrowser({ DEV_RATE_SCALE: "1000" });
afterAll(() => rmSync(folder, { recursive: true }));

const getData = async <T>(path: string, key = service.world.acme.keys.live): Promise<T> => {
  const answer = await fetch(`${service.origin}/v1${path}`, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { data: T }).data;
};

/** Saves a response of the service in the test's folder and returns the path of the file. */
const save = async (name: string, path: string): Promise<string> => {
  const answer = await fetch(`${service.origin}${path}`, { headers: { authorization: `Bearer ${service.world.acme.keys.live}` } });
  expect(answer.status).toBe(200);
  writeFileSync(join(folder, name), new Uint8Array(await answer.arrayBuffer()));
  return join(folder, name);
};

const post = async (path: string, headers: Readonly<Record<string, string>>, body: object): Promise<Record<string, string>> => {
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
  const answer = await fetch(`${service.origin}/v1${path}`, init);
  expect(answer.ok).toBe(true);
  return ((await answer.json()) as { data: Record<string, string> }).data;
};

const issue = async (): Promise<string> => (await post("/consent", { origin: "https://www.example.com" }, submission())).cert_id as string;

const withdraw = (certId: string): Promise<unknown> =>
  post(
    `/certs/${certId}/withdrawals`,
    { authorization: `Bearer ${service.world.acme.keys.live}` },
    { method: "phone", received_at: new Date().toISOString() },
  );

interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const startReceiver = (deliveries: Delivery[]): Promise<Server> => {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    deliveries.push({ headers: request.headers, body: Buffer.concat(parts).toString() });
    response.writeHead(204).end();
  });
  return new Promise((done) => server.listen(0, "localhost", () => done(server)));
};

const submission = () => ({
  client_id: service.world.acme.clients.live,
  fields: { email: "pat@example.com" },
  disclosure_text: "I agree to be called.",
  entities: ["Acme Solar LLC"],
  purpose: "solar quotes",
  page_url: "https://www.example.com/quote",
  esign: { disclosure_text: "I agree to sign electronically.", accepted: true },
});

describe.each(releases)("the files of %s", (release) => {
  const pathOf = (file: string): string => resolve("test/releases", release, file);
  const importFile = async <Module>(file: string): Promise<Module> => (await import(pathToFileURL(pathOf(file)).href)) as Module;

  /** Opens a page of the demo business in a browser that has the release's page script in its cache. */
  const openWithScript = async (path: string) => {
    const opened = await openPage(browser);
    const context = opened.page.context();
    await context.clock.install();
    for (const file of readdirSync(pathOf(".")).filter((name) => /^svc(?:-share-[0-9a-f]{12})?\.js$/.test(name)))
      await context.route(`${service.origin}/v1/${file}`, (route) =>
        route.fulfill({
          contentType: "text/javascript",
          headers: { "access-control-allow-origin": "*", "cross-origin-resource-policy": "cross-origin" },
          body: readFileSync(pathOf(file), "utf8"),
        }),
      );
    const events: ReceivedEvent[] = [];
    await recordEvents(context, events);
    await opened.page.goto(`${service.demoOrigin}${path}`);
    return { ...opened, events };
  };

  test("svc.js issues a certificate for a submitted form", async () => {
    const { page, events, problems, close } = await openWithScript("/");
    await page.fill("#name", "Pat Example");
    await page.fill("#email", "pat@example.com");
    await page.check("#agree");
    await page.click("#estimate button");
    await page.waitForURL(`${service.demoOrigin}/thanks`);
    expect(events.map(({ type }) => type)).toEqual(["svc:consent"]);
    const certificate = await getData<Record<string, unknown>>(`/certs/${events[0]?.detail.cert_id}`);
    expect(certificate).toMatchObject({ status: "active", purpose: "Solar quote follow-up" });
    expect(certificate.entities).toEqual(["Acme Solar LLC", "Bright Homes Inc"]);
    expect(problems).toEqual([]);
    await close();
  });

  test("svc-share.js fills a form with what a person shares on the sheet", async () => {
    const { page, events, problems, close } = await openWithScript("/share");
    const email = `pat-${crypto.randomUUID().slice(0, 8)}@example.com`;
    const [sheet] = await Promise.all([page.context().waitForEvent("page"), page.click(shareButtonSelector)]);
    await sheet.waitForSelector("#sheet-email");
    await waitUntilClickable(sheet);
    await sheet.fill("#sheet-email", email);
    await sheet.click(".answer button.primary");
    await sheet.waitForSelector("#sheet-code");
    await sheet.fill("#sheet-code", await findEmailCode(service.origin, email));
    await sheet.click(".answer button.primary");
    await sheet.waitForSelector(".answer [formaction]");
    await sheet.fill("#field-first_name", "Pat");
    await sheet.fill("#field-last_name", "Example");
    await waitUntilClickable(sheet);
    await waitUntilClosed(sheet, () => sheet.click(".answer [formaction]"));
    const shared = () => events.find(({ type }) => type === "svc:share");
    await expect.poll(shared).toBeDefined();
    const share = shared()?.detail.share_id;
    expect(await readFormValues(page, "#estimate")).toMatchObject({ name: "Pat Example", email, svc_share_id: share });
    expect(await getData(`/shares/${share}`)).toMatchObject({ status: "active" });
    expect(problems).toEqual([]);
    await close();
  });

  test("the client issues, reads, lists, exports and withdraws certificates", async () => {
    const { createSvc } = await importFile<{ readonly createSvc: (options: SvcOptions) => Svc }>("client.mjs");
    const svc = createSvc({ baseUrl: service.origin, apiKey: service.world.acme.keys.live });
    const issued = await svc.captureConsent({ headers: { Origin: "https://www.example.com" }, body: submission() });
    const cert_id = issued.data?.cert_id as string;
    expect((await svc.readCertificate({ path: { cert_id } })).data?.subject).toEqual({ email: "pat@example.com" });
    expect((await svc.listCertificates({ query: { subject_email: "pat@example.com" } })).data?.certs).toContainEqual(
      expect.objectContaining({ cert_id }),
    );
    const withdrawn = await svc.recordWithdrawal({ path: { cert_id }, body: { method: "phone", received_at: new Date().toISOString() } });
    expect(withdrawn.data?.cease_by).toMatch(/T23:59:59\.999Z$/);
    expect((await svc.readCertificate({ path: { cert_id } })).data?.status).toBe("revoked");
  });

  test("svc-verify checks this version's evidence packs, with and without a withdrawal, and notices a change", async () => {
    const trust = await save("trust.json", "/.well-known/svc-trust.json");
    const [active, withdrawn] = [await issue(), await issue()];
    await withdraw(withdrawn);
    const verify = (pack: string): { readonly status: number | null; readonly stdout: string } => {
      const { status, stdout } = spawnSync(process.execPath, [pathOf("svc-verify.mjs"), pack, "--trust", trust], { encoding: "utf8" });
      return { status, stdout };
    };
    for (const certId of [active, withdrawn]) {
      const exportAndVerify = async () => {
        await service.runtime.scheduled("* * * * *");
        return verify(await save(`${certId}.zip`, `/v1/certs/${certId}/evidence-pack?format=zip`));
      };
      await expect.poll(exportAndVerify, { interval: 1_000 }).toEqual({ status: 0, stdout: expect.stringContaining(certId) });
    }
    const changed = readFileSync(join(folder, `${active}.zip`));
    const at = changed.length >> 1;
    changed[at] = (changed[at] as number) ^ 1;
    writeFileSync(join(folder, "changed.zip"), changed);
    expect(verify(join(folder, "changed.zip")).status).toBe(1);
  });

  test("svc triggers and forwards events, whose signature verify-signature confirms", async () => {
    const deliveries: Delivery[] = [];
    const receiver = await startReceiver(deliveries);
    const env = { ...process.env, SVC_API: service.origin, SVC_API_KEY: service.world.acme.keys.sandbox };
    const svc = async (...words: readonly string[]): Promise<string> => {
      const child = spawn(process.execPath, [pathOf("svc.mjs"), ...words], { cwd: folder, env });
      let printed = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (printed += String(part)));
      const code = await new Promise((done) => child.on("close", done));
      expect([code, printed]).toEqual([0, printed]);
      return printed;
    };
    const event = JSON.parse(await svc("trigger", "share.created")) as { readonly id: string };
    const url = `http://localhost:${(receiver.address() as AddressInfo).port}/hook`;
    const printed = await svc("listen", "--forward-to", url, "--once", "--from", "start");
    const delivery = deliveries.find(({ body }) => JSON.parse(body).id === event.id);
    receiver.close();
    const [secret = ""] = /whsec_[A-Za-z0-9+/=]+/.exec(printed) ?? [];
    const { verifySignature } = await importFile<typeof import("../../core/webhooks/verify-signature.ts")>("verify-signature.mjs");
    const signature = String(delivery?.headers["svc-signature"]);
    expect(verifySignature(delivery?.body ?? "", signature, secret, Date.now() / 1_000)).toBe(true);
    expect(verifySignature(`${delivery?.body} `, signature, secret, Date.now() / 1_000)).toBe(false);
  });
});
