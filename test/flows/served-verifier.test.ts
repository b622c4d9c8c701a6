// Tests files that the service serves without running the Worker: the verifier, whose hash the trust document and evidence packs contain,
// and the icon.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildEvidenceBundle } from "../../core/certificates/evidence-bundle.ts";
import { buildPackFiles } from "../../core/certificates/evidence-pack.ts";
import type { JsonObject } from "../../core/canonical-json.ts";
import { sha256Hex } from "../../core/hash.ts";
import { buildWorld } from "../core/verifier/evidence.ts";
import { readText } from "../core/verifier/repack.ts";
import { startServiceForFile } from "../support/local-service.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-verifier-"));
const service = await startServiceForFile();
let trust: JsonObject & { readonly verifier: { readonly url: string; readonly sha256: string } };
beforeAll(async () => {
  trust = (await (await fetch(`${service.origin}/.well-known/svc-trust.json`)).json()) as typeof trust;
});
afterAll(() => rmSync(folder, { recursive: true }));

test("the verifier is served at the URL and with the hash in the trust document, and runs", async () => {
  expect(new URL(trust.verifier.url).pathname).toBe("/svc-verify.mjs");
  const response = await fetch(`${service.origin}/svc-verify.mjs`);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^text\/javascript/);
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  const source = new Uint8Array(await response.arrayBuffer());
  expect(sha256Hex(source)).toBe(trust.verifier.sha256);
  writeFileSync(join(folder, "svc-verify.mjs"), source);
  const { status, stdout } = spawnSync(process.execPath, [join(folder, "svc-verify.mjs"), "--help"], { encoding: "utf8" });
  expect(status).toBe(0);
  expect(stdout).toContain("Usage: svc-verify");
});

test("the verifier is offered on a certificate's page with the hash of the file that is served, the keys, and the command", async () => {
  const at = service.demoOrigin;
  const response = await fetch(`${service.origin}/v1/consent`, {
    method: "POST",
    headers: { "content-type": "text/plain", origin: at },
    body: JSON.stringify({
      client_id: service.world.acme.clients.sandbox,
      fields: { email: "pat@example.com" },
      disclosure_text: "By clicking Send I agree.",
      entities: ["Acme Solar LLC"],
      purpose: "solar quote follow-up",
      page_url: `${at}/quote`,
    }),
  });
  const { data } = (await response.json()) as { data: { cert_id: string } };
  const page = await (await fetch(`${service.origin}/c/${data.cert_id}`)).text();
  const [, shown = ""] = /id="verifier-sha256"[^>]*>(.*?)<\/code>/s.exec(page) ?? [];
  const served = new Uint8Array(await (await fetch(`${service.origin}/svc-verify.mjs`)).arrayBuffer());
  expect(shown.replaceAll(/<[^>]*>/g, "")).toBe(sha256Hex(served));
  for (const path of ["/svc-verify.mjs", "/.well-known/svc-trust.json"])
    expect(page).toContain(`href="${new URL(path, trust.verifier.url).href}"`);
  expect(page).toContain(`node svc-verify.mjs evidence-${data.cert_id}.zip --trust svc-trust.json`);
});

test("the verifier is named with its hash in a pack's README and in the bundle, and in neither if the service serves none", async () => {
  const { parts } = await buildWorld({ trust });
  const { url, sha256 } = trust.verifier;
  const readme = readText(await buildPackFiles(parts), "README.txt");
  expect(readme).toContain(`curl -O ${url}\n    echo "${sha256}  svc-verify.mjs" | sha256sum -c\n`);
  expect(buildEvidenceBundle(parts).how_to_verify).toContain(`${url}, SHA-256 ${sha256}`);
  expect(readText(await buildPackFiles((await buildWorld()).parts), "README.txt")).not.toContain("curl -O http");
});

test("an icon is served to browsers that request /favicon.ico, and they may cache it", async () => {
  const response = await fetch(`${service.origin}/favicon.ico`);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^image\/(?:x-icon|vnd\.microsoft\.icon)/);
  expect(response.headers.get("cache-control")).toBe("public, max-age=86400");
  expect([...new Uint8Array(await response.arrayBuffer()).subarray(0, 4)]).toEqual([0, 0, 1, 0]); // the signature of an ICO file
});
