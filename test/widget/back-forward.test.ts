// Tests that a page restored from the back-forward cache submits its own certificate or none, and never the certificate of the first
// submission. These tests need the full browser, because the headless shell has no back-forward cache.

import { describe, expect, it } from "vitest";
import { extractCertificates } from "./received.ts";
import {
  type Visit,
  type VisitOptions,
  openWorld,
  placeholder,
  plainEntries,
  buildPlainForm,
  press,
  waitForQuiet,
  buildRefusal,
  tickAndClick,
} from "./support.ts";

const world = await openWorld("whole");

/** Goes back without page.goBack(), which waits for a load event that a restored page does not fire. */
async function goBack({ page, url }: Visit) {
  await page.evaluate(() => history.back()).catch(() => undefined); // navigating back may unload this page before the call returns
  const deadline = Date.now() + 20_000;
  while ((await page.evaluate(() => location.href).catch(() => "")) !== url) {
    if (Date.now() > deadline) throw new Error("did not get back");
  }
  await waitForQuiet();
}

describe("a page restored from the back-forward cache", () => {
  const visitAndGoBack = async (html: string, options: Partial<VisitOptions> = {}) => {
    const visit = await world.visit({
      html: `${html}<script>addEventListener('pageshow', (event) => { window.isRestored = event.persisted })</script>`,
      ...options,
    });
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted())).toHaveLength(1);
    await goBack(visit);
    await visit.page.waitForFunction("window.isRestored");
    return visit;
  };

  it.each([
    ["our input is gone", ""],
    ["the page's placeholder is empty", placeholder],
  ])("%s", async (_what, inside) => {
    const visit = await visitAndGoBack(buildPlainForm({ inside }));
    expect(await visit.page.evaluate('new FormData(lead).get("svc_cert_id") || ""')).toBe("");
    await visit.close();
  });

  it("certifies the next submission again", async () => {
    const visit = await visitAndGoBack(buildPlainForm());
    await press(visit.page, "#send");
    const ids = extractCertificates(await visit.submitted(2));
    expect(ids).toEqual([expect.stringMatching(/^cc_/)]);
    expect(ids).not.toEqual(extractCertificates(visit.backend[0]!));
    await visit.close();
  });

  it("sends no certificate when certifying fails", async () => {
    const visit = await visitAndGoBack(buildPlainForm(), {
      respond: (_call, n) => (n === 2 ? buildRefusal(503, "storage_unavailable") : undefined),
    });
    await press(visit.page, "#send");
    expect((await visit.submitted(2)).entries).toEqual(plainEntries);
    await visit.close();
  });

  it("sends no certificate when the box is unchecked", async () => {
    const visit = await visitAndGoBack(buildPlainForm());
    await press(visit.page, "#consent");
    await press(visit.page, "#send");
    expect((await visit.submitted(2)).entries).toEqual(plainEntries.filter(([name]) => name !== "agree"));
    await visit.close();
  });

  it("does not send a form that was held when the visitor left, and lets the visitor send the form", async () => {
    const visit = await world.visit({
      html: buildPlainForm(),
      respond: (_call, n) => (n === 1 ? { fault: "never" } : undefined),
    });
    await tickAndClick(visit.page);
    await visit.until(() => visit.calls.length === 1, "the call");
    await visit.page.goto(`${world.site}/elsewhere`);
    await goBack(visit);
    await visit.endTimeLimits();
    await waitForQuiet();
    expect(visit.backend).toEqual([]);
    await press(visit.page, "#send");
    expect(extractCertificates(await visit.submitted())).toHaveLength(1);
    await visit.close();
  });
});
