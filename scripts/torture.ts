// `npm run torture`: the storms of the test suite at full length, with the service killed twenty times under submissions and
// eight times under events.
import { spawnSync } from "node:child_process";

const files = ["test/flows/kill.test.ts", "test/flows/events-kill.test.ts"];
const { status } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", "--project", "node", ...files], {
  stdio: "inherit",
  env: { ...process.env, KILL_ROUNDS: process.env.KILL_ROUNDS ?? "20", EVENT_KILLS: process.env.EVENT_KILLS ?? "8" },
});
process.exit(status ?? 1);
