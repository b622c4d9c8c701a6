// Tests that every released copy of the script stays available unchanged, because pages pin a copy by its filename and integrity hash.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startLocalService, type LocalService } from "../support/local-service.ts";

const released = readdirSync("widget/released");

describe("released copies of the widget", () => {
  let service: LocalService;
  beforeAll(async () => {
    service = await startLocalService();
  });
  afterAll(() => service.stop());

  test("exist", () => {
    expect(released.length).toBeGreaterThan(0);
  });

  test.each(released)("%s is served byte for byte, immutable and to any origin", async (name) => {
    const kept = readFileSync(join("widget/released", name));
    const response = await fetch(`${service.origin}/v1/${name}`);
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).equals(kept)).toBe(true);
    expect(name.replace("svc-share-", "svc-")).toBe(`svc-${createHash("sha256").update(kept).digest("hex").slice(0, 12)}.js`);
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
  });

  test("have the same security headers as other responses", async () => {
    const { headers } = await fetch(`${service.origin}/v1/svc.js`);
    const other = await fetch(`${service.origin}/v1/health`);
    for (const name of ["strict-transport-security", "x-content-type-options", "referrer-policy", "permissions-policy"]) {
      expect([name, headers.get(name)]).toEqual([name, other.headers.get(name) ?? "missing"]);
    }
  });

  test("are released with the share part they name", () => {
    const named = released.flatMap(
      (name) => readFileSync(join("widget/released", name), "utf8").match(/svc-share-[0-9a-f]{12}\.js/g) ?? [],
    );
    expect(named.filter((name) => !released.includes(name))).toEqual([]);
  });

  test("are cached for minutes under a plain name and forever under a hashed name", async () => {
    const svc = await fetch(`${service.origin}/v1/svc.js`);
    const [hashed] = /svc-share-[0-9a-f]{12}\.js/.exec(await svc.text()) ?? [];
    const [plain, pinned] = await Promise.all(["svc-share.js", hashed].map((name) => fetch(`${service.origin}/v1/${name}`)));
    expect([plain!.status, pinned!.status]).toEqual([200, 200]);
    expect(await plain!.text()).toBe(await pinned!.text());
    for (const { headers } of [svc, plain!]) expect(headers.get("cache-control")).toBe("public, max-age=300, stale-while-revalidate=86400");
    expect(pinned!.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    for (const { headers } of [plain!, pinned!]) {
      expect([headers.get("access-control-allow-origin"), headers.get("cross-origin-resource-policy")]).toEqual(["*", "cross-origin"]);
      expect(headers.get("content-type")).toMatch(/^text\/javascript/);
    }
  });

  test("do not include copies that were never released", async () => {
    for (const name of ["svc-000000000000.js", "svc-share-000000000000.js"]) {
      expect((await fetch(`${service.origin}/v1/${name}`)).status).toBe(404);
    }
  });
});
