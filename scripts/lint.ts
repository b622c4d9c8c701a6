// `npm run lint`: builds the assets and runs the static checks, but no tests.
import { buildAssets } from "./build.ts";
import { runChecks } from "./checks.ts";

await buildAssets(); // the type checks need the generated modules, which `buildAssets` writes
const failed = await runChecks();
if (failed.length > 0) {
  console.error(`Failed: ${failed.join(", ")}. To fix formatting and most lint findings, run: npm run format`);
  process.exit(1);
}
