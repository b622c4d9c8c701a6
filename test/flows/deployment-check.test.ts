// Runs the check at the end of `npm run deploy` against a running service.
import { expect, test } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { checkDeployment } from "../../scripts/deploy/check.ts";
import { resolveDeployment } from "../../scripts/deploy/config.ts";
import { startServiceForFile } from "../support/local-service.ts";

const adminToken = "operator-token-of-the-deployment-check-test";
const deployment = resolveDeployment({ production: {} }, "production", { domain: "acme-solar.test" });

const service = await startServiceForFile({ ADMIN_TOKEN_SHA256: sha256Hex(adminToken) });

const check = async (options: { readonly adminToken?: string; readonly origin?: string } = {}): Promise<string[]> => {
  const passed: string[] = [];
  const report = (text: string): void => void passed.push(text);
  await checkDeployment(deployment, { adminToken, origin: service.origin, report, deadlineMs: 0, ...options });
  return passed;
};

test("issues, verifies and withdraws a sandbox certificate each time it runs", async () => {
  const passed = await check();
  expect(passed.slice(-3)).toEqual(["Sandbox certificate issued", "Sandbox certificate verified", "Sandbox certificate withdrawn"]);
  expect(await check()).toEqual(passed);
});

test("says which check failed", async () => {
  await expect(check({ adminToken: "another-operator-token-that-is-not-configured" })).rejects.toThrow("Operator token returned 401");
  await expect(check({ origin: "http://127.0.0.1:9" })).rejects.toThrow("API and databases does not respond");
});
