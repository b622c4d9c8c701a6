// Scores pages with Lighthouse's mobile profile, on a service with a month of demo data.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureBrowsers, findBrowserPath } from "../browser.ts";
import { prepareDemoData } from "../demo-data.ts";
import { startPreparedRuntime } from "../local-runtime.ts";
import { buildLocalSettings } from "../settings.ts";
import { installPackages } from "./installed-packages.ts";
import type { Bench } from "./measured-service.ts";
import { findFreePort } from "./peers/processes.ts";
import { signInByEmailCode } from "./shares.ts";

const versions = { lighthouse: "13.5.0" };
const categories = ["performance", "accessibility", "best-practices"] as const;

/** The part of a Lighthouse report that is printed. Scores are between 0 and 1. */
interface Report {
  readonly categories: Readonly<Record<(typeof categories)[number], { readonly score: number | null }>>;
  readonly audits: Readonly<Record<string, { readonly numericValue?: number }>>;
}

const runProgram = promisify(execFile);

const maxTries = 3; // on a busy machine, Lighthouse sometimes misses the start of the navigation and asks to be run again

const ratePage = async (folder: string, url: string, headers: Readonly<Record<string, string>>, tries = 1): Promise<Report> => {
  const options = [
    "--quiet",
    "--output=json",
    `--only-categories=${categories.join(",")}`,
    "--chrome-flags=--headless=new --no-sandbox",
    `--extra-headers=${JSON.stringify(headers)}`,
  ];
  try {
    const { stdout } = await runProgram(process.execPath, [join(folder, "node_modules/lighthouse/cli/index.js"), url, ...options], {
      env: { ...process.env, CHROME_PATH: findBrowserPath("whole") },
      maxBuffer: 64 * 1_024 * 1_024, // a report contains screenshots, so it is large
    });
    return JSON.parse(stdout) as Report;
  } catch (error) {
    if (tries === maxTries) throw new Error(`bench: Lighthouse failed ${maxTries} times: ${(error as { stderr?: string }).stderr}`);
    return ratePage(folder, url, headers, tries + 1);
  }
};

const buildSheetPath = (clientId: string, siteOrigin: string): string =>
  `/authorize?${new URLSearchParams({
    client_id: clientId,
    origin: siteOrigin,
    scope: "email name phone?",
    purpose: "Send you a solar estimate",
    code_challenge: createHash("sha256").update("v".repeat(43)).digest("base64url"),
    code_challenge_method: "S256",
    state: "xyz",
    return_url: `${siteOrigin}/share`,
  })}`;

export const measureLighthouse = async ({ state, bundledIn, vars, world }: Bench): Promise<void> => {
  const folder = installPackages("lighthouse", versions);
  await ensureBrowsers();
  const [port, demoPort] = [await findFreePort(), await findFreePort()];
  const settings = buildLocalSettings({ port, demoPort, stateDir: join(state, "lighthouse"), vars });
  await prepareDemoData(settings, world, { isEmpty: false });
  const runtime = await startPreparedRuntime({ ...settings, bundleDir: bundledIn, printsLog: false });
  await runtime.scheduled("* * * * *"); // adds the demo data to the audit logs and the ledger
  const { acme, ownerEmail } = world;
  const response = await fetch(`${runtime.url}/v1/certs`, { headers: { authorization: `Bearer ${acme.keys.live}` } });
  const [certificate] = ((await response.json()) as { data: { certs: { cert_id: string }[] } }).data.certs;
  if (certificate === undefined) throw new Error("bench: the demo data has no certificate");
  const owner = await signInByEmailCode(runtime.url, { email: ownerEmail, realm: "business", ip: "10.7.0.1" });
  const pages = [
    { name: "/", path: "/" },
    { name: "/c/{id}", path: `/c/${certificate.cert_id}` },
    // The referrer shows that the request came from the business. Without it, the consent sheet does not ask for consent.
    { name: "/authorize", path: buildSheetPath(acme.clients.live, settings.demoOrigin), headers: { Referer: `${settings.demoOrigin}/` } },
    { name: "/docs", path: "/docs" },
    { name: "/docs/api/certificates", path: "/docs/api/certificates" },
    { name: "/portal", path: "/portal", headers: { Cookie: owner } },
  ];
  console.log("lighthouse       performance, accessibility, best practices; largest paint, blocking time, bytes transferred");
  for (const { name, path, headers = {} } of pages) {
    const report = await ratePage(folder, `${settings.origin}${path}`, headers);
    const scores = categories.map((category) => String(Math.round((report.categories[category].score ?? 0) * 100)).padStart(4));
    const format = (audit: string): string => (report.audits[audit]?.numericValue ?? Number.NaN).toFixed(0).padStart(6);
    console.log(
      `  ${name.padEnd(24)} ${scores.join("")}  ${format("largest-contentful-paint")} ms ${format("total-blocking-time")} ms ${format("total-byte-weight")} B`,
    );
  }
  await runtime.dispose();
};
