// `npm run lint`: the static checks alone.
import { buildAssets } from "./build.ts";
import { runChecks } from "./checks.ts";

await buildAssets(); // the type checks read what the build generates
const failed = await runChecks();
if (failed.length > 0) {
  console.error(`Failed: ${failed.join(", ")}. Formatting and most lint findings are settled by: npm run format`);
  process.exit(1);
}
