// `npm run browsers`: the sharing's matrix of browsers (B1 to B32) in Chromium, Firefox and WebKit, as far as they are or can be had here.
// `npm run browsers -- firefox` is one of them. `npm test` runs the matrix in Chromium alone.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { buildAssets } from "./build.ts";
import { aptInstall, findBrowserPath, firefoxPath, webkit } from "./browser.ts";

const resultsPath = "dist/browser-results.json";
const matrixTests = ["test/browser/share-sheet.test.ts", "test/browser/share-ways-back.test.ts"];
const rows = Array.from({ length: 32 }, (_, index) => index + 1);

interface BrowserRun {
  readonly name: string;
  readonly packages: readonly string[];
  readonly isThere: () => boolean;
  readonly tests: readonly string[];
  /** Rows without a test in this browser, and why. */
  readonly without: readonly (readonly [rows: readonly number[], why: string])[];
}

const isChromium = (): boolean => {
  try {
    return findBrowserPath("headless") !== "";
  } catch {
    return false;
  }
};

const browsers: readonly BrowserRun[] = [
  { name: "chromium", packages: ["chromium"], isThere: isChromium, tests: matrixTests, without: [] },
  { name: "firefox", packages: ["firefox-esr"], isThere: () => existsSync(firefoxPath), tests: matrixTests, without: [] },
  {
    name: "webkit",
    packages: ["webkit2gtk-driver", "xvfb"],
    isThere: () => [webkit.driver, webkit.browser, webkit.screen].every((path) => existsSync(path)),
    tests: ["test/webkit/share-sheet.test.ts"],
    without: [
      [[3, 6, 9, 12], "WebKitGTK knows no passkeys; it is shown that none is offered there"],
      [[13, 24, 26, 27, 32], "its driver puts nothing of a test in the place of an answer or of a page"],
      [[21], "its driver runs one browser at a time"],
      [[28], "its driver needs script itself"],
    ],
  },
];

interface Results {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** The rows that the name of a test speaks of: `B16, B18` or `B1-B12`. */
const parseRows = (name: string): readonly number[] =>
  [...name.matchAll(/\bB(\d+)(?:-B(\d+))?/g)].flatMap(([, first, last]) =>
    rows.filter((row) => row >= Number(first) && row <= Number(last ?? first)),
  );

/** Runs the matrix in one browser, says what it saw, and tells whether all of it was right. */
const run = ({ name, tests, without }: BrowserRun): boolean => {
  rmSync(resultsPath, { force: true });
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${resultsPath}`];
  const { status } = spawnSync("node_modules/.bin/vitest", ["run", "--project", "node", ...reporters, ...tests], {
    stdio: "inherit",
    env: { ...process.env, TEST_BROWSER: name },
  });
  if (!existsSync(resultsPath)) return false;
  const { testResults } = JSON.parse(readFileSync(resultsPath, "utf8")) as Results;
  const seen = testResults.flatMap(({ assertionResults }) => assertionResults);
  console.log(`\n${name}`);
  for (const row of rows) {
    const its = seen.filter(({ fullName }) => parseRows(fullName).includes(row));
    const right = its.filter(({ status: how }) => how === "passed").length;
    const why = without.find(([numbers]) => numbers.includes(row))?.[1] ?? "no test";
    console.log(`  B${row}\t${its.length === 0 ? `not run: ${why}` : `${right} of ${its.length} passed`}`);
  }
  const all = seen.filter(({ status: how }) => how === "passed").length;
  console.log(`  all\t${all} of ${seen.length} passed`);
  return status === 0;
};

const selectedBrowsers = process.argv.slice(2);
const unknownBrowsers = selectedBrowsers.filter((name) => !browsers.some((known) => known.name === name));
if (unknownBrowsers.length > 0) {
  console.error(`The browsers are ${browsers.map(({ name }) => name).join(", ")}.`);
  process.exit(2);
}

await buildAssets();
const failedBrowsers: string[] = [];
let isRight = true;
for (const browser of browsers.filter(({ name }) => selectedBrowsers.length === 0 || selectedBrowsers.includes(name))) {
  if (!browser.isThere()) await aptInstall(browser.packages);
  if (!browser.isThere()) {
    failedBrowsers.push(`${browser.name}: not run; it is not here and could not be installed (${browser.packages.join(", ")} of Debian)`);
    continue;
  }
  const isFine = run(browser);
  isRight &&= isFine;
  failedBrowsers.push(`${browser.name}: ${isFine ? "everything that ran passed" : "not everything passed"}`);
}
console.log(`\n${failedBrowsers.join("\n")}`);
process.exit(isRight ? 0 : 1);
