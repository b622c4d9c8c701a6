// Checks that a service started by a test uses only the test's settings, not the .dev.vars of `npm start`.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadWorkerConfiguration } from "../../scripts/local-runtime.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-settings-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a .dev.vars next to wrangler.toml does not change the settings of a test runtime", () => {
  cpSync("wrangler.toml", join(folder, "wrangler.toml"));
  mkdirSync(join(folder, "dist/assets"), { recursive: true });
  writeFileSync(join(folder, ".dev.vars"), "ENVIRONMENT=development\nSTRIPE_PRICE_BUSINESS=price_of_a_developer\nMASTER_KEYS=1:theirs\n");
  const { bindings } = loadWorkerConfiguration(join(folder, "wrangler.toml")) as { bindings: Record<string, unknown> };
  expect(bindings).toMatchObject({ ENVIRONMENT: "production", STRIPE_PRICE_BUSINESS: "" });
  expect(bindings).not.toHaveProperty("MASTER_KEYS");
});
