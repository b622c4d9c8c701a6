// Tests the email link that stops a share without signing in, as used by a browser and by an attacker's program.
import { describe, expect, test } from "vitest";
import { createBrowserSession, describeRedirect, getPageText, parsePage } from "../support/browser-session.ts";
import { listMailTo } from "../support/people.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { grantShare, signInPerson, getWithApiKey, type SignedPerson } from "../support/sharing.ts";
import { createServiceCall } from "../support/world.ts";

const getStatus = async (id: string): Promise<string> => (await getWithApiKey(`/v1/shares/${id}`)).body.data.status;

/** Returns the token in the newest link that was emailed to the person for a share. */
const findMailedToken = async ({ email }: SignedPerson, id: string): Promise<string> => {
  await waitUntilSettled();
  const text = (await listMailTo(email)).map((mail) => mail.text).join("\n");
  return new RegExp(`/stop/${id}#t=([\\w-]{43})`).exec(text)?.[1] as string;
};

describe("the link that stops a share", () => {
  test("stops it when the button is pressed, not when the link is opened, without signing in, and explains what follows", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    const token = await findMailedToken(pat, share.id);
    const browser = createBrowserSession();
    const path = `/stop/${share.id}`;
    const page = await browser.open(path);
    expect([page.status, await getStatus(share.id)]).toEqual([200, "active"]);
    expect(page.text).toMatch(/<noscript><p>This link requires JavaScript[\s\S]*\/app\/shares\/shr_/);
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.text).not.toContain("Acme Solar LLC");
    const tooLong = await browser.send(page, path, { token, reason: "x".repeat(201) });
    expect([tooLong.status, await getStatus(share.id)]).toEqual([400, "active"]);
    expect(tooLong.text).toContain(`value="${token}"`);
    expect(describeRedirect(await browser.send(page, path, { token, reason: "Enough" }))).toBe(`303 ${path}/stopped`);
    expect(getPageText(await browser.open(`${path}/stopped`))).toContain("The business must stop contacting you by the end of");
    expect((await getWithApiKey(`/v1/shares/${share.id}`)).body.data).toMatchObject({ status: "revoked", reason: "Enough" });
    expect(describeRedirect(await browser.send(page, path, { token }))).toBe(`303 ${path}/stopped`);
  });

  test("works even if a mail gateway has encoded its fragment, and stops nothing when it is only opened", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    const token = await findMailedToken(pat, share.id);
    const browser = createBrowserSession();
    for (const encoded of ["%23t=", "%2523t=", "%23t%3D"]) {
      const [, equals = ""] = /t(=|%3D)$/.exec(encoded) ?? [];
      const page = await browser.open(`/stop/${share.id}${encoded}${token}`);
      expect(describeRedirect(page)).toBe(`302 /stop/${share.id}#t${equals}${token}`);
    }
    expect(describeRedirect(await browser.open(`/stop/${share.id}%23t=${token}?lang=es`))).toBe(`302 /stop/${share.id}?lang=es#t=${token}`);
    expect((await browser.open(`//evil.example%23t=${token}`)).status).toBe(404);
    expect(await getStatus(share.id)).toBe("active");
  });

  test("shows one page for another share's token, a wrong token and an unknown share, and stops nothing", async () => {
    const pat = await signInPerson();
    const [first, second] = [await grantShare(pat), await grantShare(pat)];
    const token = await findMailedToken(pat, first.share.id);
    const browser = createBrowserSession();
    const responses = await Promise.all([
      browser.post(`/stop/${second.share.id}`, { token }),
      browser.post(`/stop/${first.share.id}`, { token: "A".repeat(43) }),
      browser.post(`/stop/${first.share.id}`, {}),
      browser.post("/stop/shr_000000000000000000000000", { token }),
      browser.post("/stop/none", { token }),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect([await getStatus(first.share.id), await getStatus(second.share.id)]).toEqual(["active", "active"]);
    expect(describeRedirect(await browser.open(`/stop/${first.share.id}/stopped`))).toBe(`303 /stop/${first.share.id}`);
  });

  test("of a renewed share says that the share continues as a new one, and leads there", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    const token = await findMailedToken(pat, share.id);
    const renewed = (await pat.post(`/v1/me/shares/${share.id}/renew`, { consent: true })).body.data.share.id;
    const browser = createBrowserSession(pat.headers.cookie);
    const response = parsePage(await browser.post(`/stop/${share.id}`, { token }));
    expect(response.status).toBe(409);
    expect(getPageText(response)).toContain("A renewed share continues as a new one.");
    expect(response.text).toContain(`href="/app/shares/${share.id}"`);
    expect((await browser.open(`/app/shares/${share.id}`)).text).toContain(`href="/app/shares/${renewed}"`);
    expect(await getStatus(renewed)).toBe("active");
  });

  test("refuses a form from another site, and allows sixty requests a minute per network", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    const token = await findMailedToken(pat, share.id);
    const path = `/stop/${share.id}`;
    expect((await createBrowserSession().post(path, { token }, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect(await getStatus(share.id)).toBe("active");
    const strict = createBrowserSession("", createServiceCall({ DEV_RATE_SCALE: "1" }), { "cf-connecting-ip": "203.0.113.77" });
    const statuses: number[] = [];
    for (let count = 0; count < 61; count += 1) statuses.push((await strict.post(path, { token: "A".repeat(43) })).status);
    expect([statuses[59], statuses[60]]).toEqual([404, 429]);
  });

  test.each([
    ["es", "¿Dejar de compartir?"],
    ["fr-CA", "Arrêter le partage?"],
  ])("is available in %s", async (language, heading) => {
    expect(getPageText(await createBrowserSession().open(`/stop/shr_00x?lang=${language}`))).toContain(heading);
  });
});
