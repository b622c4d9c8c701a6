// `npm run torture`: the storms of the test suite at full length, with the service killed twenty times.
import { spawnSync } from "node:child_process";

const { status } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", "--project", "node", "test/flows/kill.test.ts"], {
  stdio: "inherit",
  env: { ...process.env, KILL_ROUNDS: process.env.KILL_ROUNDS ?? "20" },
});
process.exit(status ?? 1);
