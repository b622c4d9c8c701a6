// A service that a test starts has the settings that the test gives it, whatever `npm start` has left in .dev.vars.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadWorkerConfiguration } from "../../scripts/local-runtime.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-settings-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a .dev.vars beside wrangler.toml changes no setting of a runtime that is not given it", () => {
  cpSync("wrangler.toml", join(folder, "wrangler.toml"));
  mkdirSync(join(folder, "dist/assets"), { recursive: true });
  writeFileSync(join(folder, ".dev.vars"), "ENVIRONMENT=development\nSTRIPE_PRICE_BUSINESS=price_of_a_developer\nMASTER_KEYS=1:theirs\n");
  const { bindings } = loadWorkerConfiguration(join(folder, "wrangler.toml")) as { bindings: Record<string, unknown> };
  expect(bindings).toMatchObject({ ENVIRONMENT: "production", STRIPE_PRICE_BUSINESS: "" });
  expect(bindings).not.toHaveProperty("MASTER_KEYS");
});
