// Tests GET /.well-known/security.txt (RFC 9116).
import { expect, test } from "vitest";
import { productionSettings, createServiceCall } from "../support/world.ts";

const contact = { SECURITY_CONTACT: "mailto:security@svc.test" };

test("security.txt contains the configured contact on every public host, and expires within a year", async () => {
  for (const host of ["https://api.svc.test", "https://verify.svc.test"]) {
    const response = await createServiceCall({ ...productionSettings, ...contact }, host)("/.well-known/security.txt");
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/plain; charset=UTF-8"]);
    const fields = Object.fromEntries(
      response.text
        .trim()
        .split("\n")
        .map((line) => line.split(/: (.*)/).slice(0, 2)),
    );
    expect(Object.keys(fields).sort()).toEqual(["Canonical", "Contact", "Expires", "Preferred-Languages"]);
    expect([fields.Contact, fields.Canonical]).toEqual(["mailto:security@svc.test", "https://api.svc.test/.well-known/security.txt"]);
    const days = (Date.parse(fields.Expires) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(100);
    expect(days).toBeLessThan(365);
  }
});

test("security.txt returns 404 if no contact is set, and an invalid contact stops the deployment", async () => {
  expect(
    (await createServiceCall({ ...productionSettings, SECURITY_CONTACT: "" }, "https://api.svc.test")("/.well-known/security.txt")).status,
  ).toBe(404);
  await expect(createServiceCall({ ...productionSettings, SECURITY_CONTACT: "security@svc.test" })("/v1/health")).rejects.toThrow(
    "SECURITY_CONTACT",
  );
});
