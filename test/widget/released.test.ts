// Pages pin a copy of the page script by its name and its integrity; every copy that was ever released stays what it was.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startLocalService, type LocalService } from "../support/local-service.ts";

const released = readdirSync("widget/released");

describe("released copies of the page script", () => {
  let service: LocalService;
  beforeAll(async () => {
    service = await startLocalService();
  });
  afterAll(() => service.stop());

  test("there are some", () => {
    expect(released.length).toBeGreaterThan(0);
  });

  test.each(released)("%s is served byte for byte, for good and to any page", async (name) => {
    const kept = readFileSync(join("widget/released", name));
    const response = await fetch(`${service.origin}/v1/${name}`);
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).equals(kept)).toBe(true);
    expect(name.replace("svc-share-", "svc-")).toBe(`svc-${createHash("sha256").update(kept).digest("hex").slice(0, 12)}.js`);
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
  });

  test("files carry the security headers of every other answer", async () => {
    const { headers } = await fetch(`${service.origin}/v1/svc.js`);
    const other = await fetch(`${service.origin}/v1/health`);
    for (const name of ["strict-transport-security", "x-content-type-options", "referrer-policy", "permissions-policy"]) {
      expect([name, headers.get(name)]).toEqual([name, other.headers.get(name) ?? "missing"]);
    }
  });

  test("bring the share part they name along", () => {
    const named = released.flatMap(
      (name) => readFileSync(join("widget/released", name), "utf8").match(/svc-share-[0-9a-f]{12}\.js/g) ?? [],
    );
    expect(named.filter((name) => !released.includes(name))).toEqual([]);
  });

  test("the share part is served under its plain name for minutes and under its hashed one for good", async () => {
    const svc = await (await fetch(`${service.origin}/v1/svc.js`)).text();
    const [hashed] = /svc-share-[0-9a-f]{12}\.js/.exec(svc) ?? [];
    const [plain, pinned] = await Promise.all(["svc-share.js", hashed].map((name) => fetch(`${service.origin}/v1/${name}`)));
    expect([plain!.status, pinned!.status]).toEqual([200, 200]);
    expect(await plain!.text()).toBe(await pinned!.text());
    expect(plain!.headers.get("cache-control")).toBe("public, max-age=300, stale-while-revalidate=86400, stale-if-error=604800");
    expect(pinned!.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    for (const { headers } of [plain!, pinned!]) {
      expect([headers.get("access-control-allow-origin"), headers.get("cross-origin-resource-policy")]).toEqual(["*", "cross-origin"]);
      expect(headers.get("content-type")).toMatch(/^text\/javascript/);
    }
  });

  test("a copy nobody released is not there", async () => {
    for (const name of ["svc-000000000000.js", "svc-share-000000000000.js"]) {
      expect((await fetch(`${service.origin}/v1/${name}`)).status).toBe(404);
    }
  });
});
