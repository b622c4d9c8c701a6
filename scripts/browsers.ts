// `npm run browsers`: runs the browser test matrix for sharing (B1 to B32) in Chromium, Firefox and WebKit. Skips browsers that are not
// installed and cannot be installed. `npm run browsers -- firefox` uses only Firefox. `npm test` runs the matrix only in Chromium.
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
  readonly isInstalled: () => boolean;
  readonly tests: readonly string[];
  /** Rows of the matrix that are not tested in this browser, each with the reason. */
  readonly excluded: readonly (readonly [rows: readonly number[], why: string])[];
}

const isChromiumInstalled = (): boolean => {
  try {
    return findBrowserPath("headless") !== "";
  } catch {
    return false;
  }
};

const browsers: readonly BrowserRun[] = [
  { name: "chromium", packages: ["chromium"], isInstalled: isChromiumInstalled, tests: matrixTests, excluded: [] },
  { name: "firefox", packages: ["firefox-esr"], isInstalled: () => existsSync(firefoxPath), tests: matrixTests, excluded: [] },
  {
    name: "webkit",
    packages: ["webkit2gtk-driver", "xvfb"],
    isInstalled: () => [webkit.driver, webkit.browser, webkit.screen].every((path) => existsSync(path)),
    tests: ["test/webkit/share-sheet.test.ts"],
    excluded: [
      [[3, 6, 9, 12], "WebKitGTK does not support passkeys; another test shows that they are not offered"],
      [[13, 24, 26, 27, 32], "its driver cannot replace responses or pages"],
      [[21], "its driver runs one browser at a time"],
      [[28], "its driver needs scripts to be enabled"],
    ],
  },
];

interface Results {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** Parses the matrix rows in a test title, such as `B16, B18` or `B1-B12`. */
const parseMatrixRows = (name: string): readonly number[] =>
  [...name.matchAll(/\bB(\d+)(?:-B(\d+))?/g)].flatMap(([, first, last]) =>
    rows.filter((row) => row >= Number(first) && row <= Number(last ?? first)),
  );

/** Runs the matrix in one browser and prints the results. Returns whether all tests passed. */
const runMatrix = ({ name, tests, excluded }: BrowserRun): boolean => {
  rmSync(resultsPath, { force: true });
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${resultsPath}`];
  const { status } = spawnSync("node_modules/.bin/vitest", ["run", "--project", "node", ...reporters, ...tests], {
    stdio: "inherit",
    env: { ...process.env, TEST_BROWSER: name },
  });
  if (!existsSync(resultsPath)) return false;
  const { testResults } = JSON.parse(readFileSync(resultsPath, "utf8")) as Results;
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  console.log(`\n${name}`);
  for (const row of rows) {
    const rowResults = results.filter(({ fullName }) => parseMatrixRows(fullName).includes(row));
    const passed = rowResults.filter((result) => result.status === "passed").length;
    const why = excluded.find(([numbers]) => numbers.includes(row))?.[1] ?? "no test";
    console.log(`  B${row}\t${rowResults.length === 0 ? `not run: ${why}` : `${passed} of ${rowResults.length} passed`}`);
  }
  const passed = results.filter((result) => result.status === "passed").length;
  console.log(`  all\t${passed} of ${results.length} passed`);
  return status === 0;
};

const selectedBrowsers = process.argv.slice(2);
const unknownBrowsers = selectedBrowsers.filter((name) => !browsers.some((known) => known.name === name));
if (unknownBrowsers.length > 0) {
  console.error(`Unknown browser: ${unknownBrowsers.join(", ")}. Use ${browsers.map(({ name }) => name).join(", ")}.`);
  process.exit(2);
}

await buildAssets();
const summary: string[] = [];
let allPassed = true;
for (const browser of browsers.filter(({ name }) => selectedBrowsers.length === 0 || selectedBrowsers.includes(name))) {
  if (!browser.isInstalled()) await aptInstall(browser.packages);
  if (!browser.isInstalled()) {
    summary.push(
      `${browser.name}: not run; it is not installed and could not be installed (Debian packages: ${browser.packages.join(", ")})`,
    );
    continue;
  }
  const passed = runMatrix(browser);
  allPassed &&= passed;
  summary.push(`${browser.name}: ${passed ? "all tests that ran passed" : "some tests failed"}`);
}
console.log(`\n${summary.join("\n")}`);
process.exit(allPassed ? 0 : 1);
