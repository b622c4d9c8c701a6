// The number of a certificate as people type it off paper.
import { beforeAll, describe, expect, test } from "vitest";
import { call, issue, productionSettings, serviceWith } from "../support/world.ts";

let certId = "";
beforeAll(async () => {
  certId = (await issue()).cert_id;
});

/** As it stands in print: in groups, in capitals. */
const printed = (id: string): string => id.toUpperCase().replaceAll(/(.{5})/g, "$1 ");
const asked = async (path: string): Promise<string> => {
  const { status, headers } = await call(path, { redirect: "manual" });
  return `${status} ${headers.get("location")}`;
};

describe("the number of a certificate, typed off paper", () => {
  test("leads to its page", async () => {
    const wanted = `302 /c/${certId}`;
    expect(await asked(`/c/${certId.toUpperCase()}`)).toBe(wanted);
    expect(await asked(`/c/${encodeURIComponent(printed(certId))}`)).toBe(wanted);
    expect(await asked(`/c/${certId}/`)).toBe(wanted);
    expect(await asked(`/c?number=${encodeURIComponent(printed(certId))}`)).toBe(wanted);
    expect(await asked(`/c?number=${certId}&lang=es`)).toBe(`${wanted}?lang=es`);
  });

  test("that is none is no page, and nothing of it is repeated", async () => {
    for (const path of ["/c?number=nothing-of-ours", "/c/nothing-of-ours/", "/c?number=//evil.example", "/c"]) {
      const answer = await call(path, { redirect: "manual" });
      expect(answer.status, path).toBe(404);
      expect(answer.text).not.toContain("nothing-of-ours");
      expect(answer.headers.get("location")).toBeNull();
    }
  });

  test("is taken by the host of the page too", async () => {
    const answer = await serviceWith(productionSettings, "https://verify.svc.test")(`/c?number=${certId}`, { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([302, `/c/${certId}`]);
  });
});
