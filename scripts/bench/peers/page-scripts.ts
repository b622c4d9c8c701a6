// Compares svc.js with the scripts of consent banners: how many bytes a page loads, and how long the scripts keep the main thread busy. The
// banners and svc.js do different work, so the figures show only what each of them costs a page.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { chromium, type Browser } from "playwright-core";
import { findBrowserPath } from "../../browser.ts";
import { listenLocally } from "../../listen.ts";
import { median } from "../timing-comparison.ts";

const loads = 15;

interface PageScript {
  readonly name: string;
  readonly scripts: readonly string[];
  /** Other files that the script needs on the page, such as styles. */
  readonly others: readonly string[];
  /** Attributes of the script elements on the page. */
  readonly attributes?: string;
  /** Code that starts the banner, as its documentation describes. */
  readonly start?: string;
}

const bundleC15t = async (folder: string): Promise<string> => {
  const code = 'import { getOrCreateConsentRuntime } from "c15t"; getOrCreateConsentRuntime({ mode: "offline" });';
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: folder },
    bundle: true,
    minify: true,
    format: "iife",
    write: false,
    platform: "browser",
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "error",
  });
  return outputFiles[0]?.text as string;
};

const listPageScripts = async (folder: string): Promise<readonly PageScript[]> => {
  const read = (path: string): string => readFileSync(join(folder, "node_modules", path), "utf8");
  const form =
    'data-client-id="pc_test_00widget" data-mode="consent" data-purpose="quotes" data-entities="Acme" data-disclosure-selector="#terms"';
  return [
    { name: "svc.js", scripts: [readFileSync("dist/assets/v1/svc.js", "utf8")], others: [], attributes: form },
    {
      name: "vanilla-cookieconsent",
      scripts: [read("vanilla-cookieconsent/dist/cookieconsent.umd.js")],
      others: [read("vanilla-cookieconsent/dist/cookieconsent.css")],
      start:
        'CookieConsent.run({categories:{necessary:{enabled:true,readOnly:true},analytics:{}},language:{default:"en",translations:{en:{consentModal:{title:"Cookies",description:"We use cookies.",acceptAllBtn:"Accept",acceptNecessaryBtn:"Reject"},preferencesModal:{sections:[]}}}}})',
    },
    {
      name: "orejime",
      scripts: [read("orejime/dist/orejime-standard-en.js")],
      others: [read("orejime/dist/orejime-standard.css")],
      start: 'Orejime.load({privacyPolicyUrl:"/privacy",purposes:[{id:"analytics",title:"Analytics",cookies:[]}]})',
    },
    {
      name: "tarteaucitron",
      scripts: [read("tarteaucitronjs/tarteaucitron.min.js")],
      others: ["tarteaucitron.services.min.js", "lang/tarteaucitron.en.min.js", "css/tarteaucitron.min.css"].map((file) =>
        read(`tarteaucitronjs/${file}`),
      ),
    },
    { name: "c15t, headless", scripts: [await bundleC15t(folder)], others: [] },
    {
      name: "klaro",
      scripts: [read("klaro/dist/klaro.js")],
      others: [],
      start:
        'klaro.setup({version:1,translations:{en:{privacyPolicyUrl:"/privacy"}},services:[{name:"analytics",purposes:["analytics"]}]})',
    },
  ];
};

const countGzipBytes = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0);

const renderPage = ({ scripts, attributes = "", start = "" }: PageScript, isWithScript: boolean): string =>
  `<!doctype html><html lang="en"><title>Quote</title><form><input name="email"><p id="terms">I agree.</p><button>Send</button></form>${
    isWithScript
      ? `${scripts.map((_, at) => `<script src="/script-${at}.js" ${attributes}></script>`).join("")}<script>${start}</script>`
      : ""
  }`;

/** Returns how many milliseconds the main thread of a new page was busy before the page was loaded and idle. */
const measureMainThread = async (browser: Browser, url: string): Promise<number> => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable");
  await page.goto(url, { waitUntil: "networkidle" });
  const { metrics } = await session.send("Performance.getMetrics");
  await context.close();
  return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1_000;
};

export const comparePageScripts = async (folder: string): Promise<void> => {
  const all = await listPageScripts(folder);
  const server = createServer((request, response) => {
    const [, at = "0", kind = ""] = /^\/(\d+)\/(.*)$/.exec(request.url ?? "") ?? [];
    const pageScript = all[Number(at)] as PageScript;
    const script = /^script-(\d+)\.js$/.exec(kind)?.[1];
    response.setHeader("content-type", script === undefined ? "text/html" : "text/javascript");
    response.end(
      script === undefined
        ? renderPage(pageScript, kind === "with").replaceAll('"/script-', `"/${at}/script-`)
        : pageScript.scripts[Number(script)],
    );
  });
  const url = `http://${await listenLocally(server)}`;
  const browser = await chromium.launch({ executablePath: findBrowserPath(), args: ["--no-sandbox"] });
  const added = all.map(() => [] as number[]);
  for (let load = 0; load < loads; load += 1)
    for (const at of all.keys()) {
      const without = await measureMainThread(browser, `${url}/${at}/without`);
      added[at]?.push((await measureMainThread(browser, `${url}/${at}/with`)) - without);
    }
  console.log(
    `\npage scripts     gzip, and with styles and languages; main thread: median of ${loads} loads more than the page without it`,
  );
  for (const [at, { name, scripts, others }] of all.entries()) {
    const [alone, whole] = [countGzipBytes(scripts), countGzipBytes([...scripts, ...others])];
    console.log(
      `  ${name.padEnd(22)} ${String(alone).padStart(6)} B, ${String(whole).padStart(6)} B, ${median(added[at] ?? []).toFixed(1)} ms`,
    );
  }
  await browser.close();
  server.close();
};
