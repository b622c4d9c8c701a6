// Tests what the snippet builder reports about a page's Content-Security-Policy: whether it allows the script to run and, if not, what must
// change.
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { signUpBusiness, verifyDomain } from "../support/portal.ts";
import { getPageText, submitForm, type Member } from "../support/portal-pages.ts";
import { createHtmlResponse, createStubWeb, type StubWeb } from "../support/stub-web.ts";

const domain = "page-policy.com";
const url = `https://${domain}/quote`;
const form = '<form id="quote"><input name="email" type="email"><p id="text">I agree that Acme Solar LLC may call me.</p></form>';

let member: Member;
let web: StubWeb;
beforeAll(async () => {
  // The tests use their own business, because page fetches are limited per business per hour.
  const owner = await signUpBusiness("owner@page-policy.example");
  await verifyDomain(owner, domain, createStubWeb());
  member = owner;
});
beforeEach(() => {
  web = createStubWeb();
  web.resolve(domain, ["93.184.215.14"]);
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe("the page's Content-Security-Policy", () => {
  const allows = "Your page allows the tag";
  const blocks = "Your page’s CSP blocks the tag";
  const readResultWith = async (policy: string | null, head = "", mode = "consent"): Promise<string> => {
    const page = `<!doctype html><html><head>${head}</head><body>${form}</body></html>`;
    web.serve(url, () => createHtmlResponse(page, policy === null ? {} : { headers: { "content-security-policy": policy } }));
    const sent = { url, mode, purpose: "solar quote", entities: "Acme Solar LLC" };
    return getPageText(await submitForm(member, "/portal/snippet", "/portal/snippet", sent));
  };
  const buildMetaTag = (policy: string): string => `<meta http-equiv="Content-Security-Policy" content="${policy}">`;

  test("lets the script run if there is none, or if it allows this origin", async () => {
    expect(await readResultWith(null)).toContain(allows);
    expect(await readResultWith("script-src 'self' http://svc.test; connect-src http://svc.test")).toContain(allows);
  });

  test("blocks the script by a header or a meta tag, and the directive is named", async () => {
    const shown = await readResultWith("script-src 'self'");
    expect(shown).toContain(blocks);
    expect(shown).toContain("script-src: Add http://svc.test, or give the tag the policy’s nonce.");
    expect(shown).not.toContain("connect-src:");
    expect(await readResultWith(null, buildMetaTag("default-src http://svc.test; connect-src 'self'"))).toContain(
      "connect-src: Add http://svc.test.",
    );
    expect(await readResultWith("script-src *", buildMetaTag("sandbox"))).toContain("sandbox: Add allow-scripts");
  });

  test("may allow the exact files; share mode needs two", async () => {
    const policy = "script-src http://svc.test/v1/svc.js; connect-src http://svc.test";
    expect(await readResultWith(policy)).toContain(allows);
    expect(await readResultWith(policy, "", "share")).toContain("script-src: Add http://svc.test");
  });

  test("is not repeated anywhere", async () => {
    expect(await readResultWith("script-src https://planted.example")).not.toContain("planted.example");
  });
});
