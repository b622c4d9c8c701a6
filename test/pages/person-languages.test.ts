// Tests every consumer page in each language. In languages other than English, no text, title or label may be in English.
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { computeCodeChallenge } from "../../core/shares/pkce.ts";
import { appMessages } from "../../workers/pages/i18n/app.ts";
import { connectMessages } from "../../workers/pages/i18n/connect.ts";
import { sheetMessages } from "../../workers/pages/i18n/sheet.ts";
import { publicMessages } from "../../workers/pages/i18n/public.ts";
import { languages, type Language } from "../../core/language.ts";
import { createBrowserSession, parseFormFields, parsePage, type BrowserSession } from "../support/browser-session.ts";
import { findEmailCode, clearCodes, listMailTo } from "../support/people.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import {
  createPersonEmail,
  createVerifier,
  grantShare,
  signInPerson,
  getWithApiKey,
  redeemCode,
  type SignedPerson,
} from "../support/sharing.ts";
import { issueToNewPerson } from "../support/withdrawal.ts";
import { origin, createServiceCall, world, type TestResponse } from "../support/world.ts";
import { extractText, findByTagName, listElements, read, type Element, type ReadPage } from "./page.ts";

type Pages = ReadonlyMap<string, ReadPage>;

const saidIn = ["aria-label", "alt", "title", "placeholder", "data-copied"] as const;
/** Returns true for text from third parties, code, and names of languages. */
const isForeign = ({ name, attribs }: Element): boolean =>
  attribs.translate === "no" || attribs.hreflang !== undefined || ["bdi", "code", "script", "svg"].includes(name);
/** Texts that are the same in English and in another language. */
const alike: ReadonlySet<string> = new Set(["svc", "Error:", "Assistants", "Sandy Sample"]);
const isSaid = (text: string): boolean => /\p{L}{2}/u.test(text) && !alike.has(text) && !/^(?:\S+@\S+|[\w.-]+\.\w+)$/.test(text);

/** The list of countries is skipped, because many countries have the same name in two languages. */
const isListOfCountries = ({ name, attribs }: Element): boolean => name === "select" && attribs.autocomplete === "country";

/** Returns a page's texts and labels that come from the catalogs. */
const listTexts = ({ document }: ReadPage): ReadonlySet<string> => {
  const found: string[] = [];
  const walk = (element: Element): void => {
    if (isForeign(element) || isListOfCountries(element)) return;
    for (const name of saidIn) found.push(element.attribs[name] ?? "");
    for (const child of element.children) {
      if (child.type === "text") found.push(child.data);
      else if ("attribs" in child) walk(child as Element);
    }
  };
  const [html] = listElements(document);
  if (html === undefined) throw new Error("no page");
  walk(html);
  return new Set(found.map((text) => text.replaceAll(/\s+/g, " ").trim()).filter(isSaid));
};

/** Returns the texts on a page that are the same as in English. */
const listUntranslated = (english: Pages, other: Pages): readonly string[] =>
  [...english].flatMap(([name, page]) => {
    const otherPage = other.get(name);
    if (otherPage === undefined || otherPage.status !== page.status) return [`${name}: ${page.status} in English, ${otherPage?.status}`];
    const englishTexts = listTexts(otherPage);
    return [...listTexts(page)].filter((text) => englishTexts.has(text)).map((text) => `${name}: ${text}`);
  });

/** Allows more pages per minute than one person may open. */
const unlimitedCall = createServiceCall({ LIMIT_SESSION: "1000/60" });
const openBrowserIn = (language: Language, cookie = ""): BrowserSession =>
  createBrowserSession(cookie, unlimitedCall, { "accept-language": language });

/** Creates a person with many kinds of records. Returns the paths of the person's pages. */
const createPersonWithRecords = async (): Promise<{ readonly by: SignedPerson; readonly paths: readonly string[] }> => {
  const person = await signInPerson();
  const { id } = (await person.get("/v1/me")).body.data;
  await env.DB.prepare("UPDATE consumers SET plan = 'white_glove' WHERE id = ?").bind(id).run();
  const current = await grantShare(person, { disclosure_text: "We call you once." });
  await redeemCode(current);
  await getWithApiKey(`/v1/consumers/${current.share.id}/current`);
  const soon = await grantShare(person, { duration_days: 5, scope: ["name", "email"] });
  const stopped = await grantShare(person, { scope: ["name"] });
  await person.post(`/v1/me/sever/${stopped.share.id}`, { reason: "Enough" });
  await person.put("/v1/me/fields", { phone: "+1 202 555 0199" });
  const renewed = (await person.post(`/v1/me/shares/${soon.share.id}/renew`, { consent: true })).body.data.share.id;
  const fields = { email: person.email, first_name: "Pat" };
  const active = await issueToNewPerson({ fields, entities: ["Acme Solar LLC", "Roof Right"] });
  const withdrawn = await issueToNewPerson({ fields });
  await person.post("/v1/me/certificates/withdraw", { scope: "certificate", cert_id: withdrawn.certId });
  await person.post("/v1/me/agent-token", { name: "Helper" });
  const removal = (await person.post("/v1/me/removals", { authorize: true, targets: ["spokeo"] })).body.data.id;
  await waitUntilSettled();
  const paths = [
    ...[
      "",
      "?view=ended",
      "/details",
      "/history",
      `/history?with=${world.acme.id}`,
      "/account",
      "/agents",
      "/removals",
      "/export",
      "/delete",
      "/deleted",
      "/nothing",
    ],
    ...[current, stopped, soon].map(({ share }) => `/shares/${share.id}`),
    ...[`/shares/${renewed}/stop`, `/shares/${renewed}/renew`, "/shares/shr_none", `/removals/${removal}`, "/removals/rmv_none"],
    ...[`/with/${world.acme.id}`, `/with/${world.acme.id}/stop`, `/with/${world.other.id}`, `/certificates/${withdrawn.certId}`],
    ...[`/certificates/${active.certId}`, `/certificates/${active.certId}/withdraw`, "/certificates/cc_none"],
  ];
  return { by: person, paths };
};

/** Forms that respond with an error page or with the next step. */
const forms = [
  ["/details", "/app/details", { phone: "12" }],
  ["/details", "/app/details", { phone: "+1 202 555 0177" }],
  ["/agents", "/app/agents", { name: "x".repeat(81) }],
  ["/agents", "/app/agents", { name: "Another" }],
  ["/removals", "/app/removals", {}],
  ["/removals", "/app/removals", { "target.spokeo": "on" }],
  ["/delete", "/app/delete", { confirm: "no" }],
  ["/account", "/app/account/passkeys/add", {}],
] as const;

const openAppPages = async (
  language: Language,
  { by: person, paths }: Awaited<ReturnType<typeof createPersonWithRecords>>,
): Promise<Pages> => {
  const browser = openBrowserIn(language, person.headers.cookie);
  const pages = new Map<string, ReadPage>();
  for (const path of paths) pages.set(path, await browser.open(`/app${path}`));
  for (const [path, action, fields] of forms) {
    const page = await browser.open(`/app${path}`);
    pages.set(`${action} with ${JSON.stringify(fields)}`, parsePage(await browser.send(page, action, fields)));
  }
  await browser.send(await browser.open("/app/agents"), "/app/agents/remove", { id: "tok_none" });
  return pages;
};

const searchFor = (change: Readonly<Record<string, string>> = {}): string =>
  `?${new URLSearchParams({
    client_id: world.acme.clients.live,
    origin,
    scope: "email phone? address?",
    purpose: "Send you a solar estimate",
    code_challenge: computeCodeChallenge(createVerifier()),
    code_challenge_method: "S256",
    state: "xyz",
    return_url: `${origin}/quote`,
    ...change,
  })}`;

/** Returns all steps of the sheet, with every error. */
const openSheetPages = async (language: Language): Promise<Pages> => {
  await clearCodes();
  const browser = openBrowserIn(language);
  const pages = new Map<string, ReadPage>();
  const search = searchFor();
  const keep = async (name: string, response: TestResponse): Promise<ReadPage> => {
    const page = response.status === 303 ? await browser.open(response.headers.get("location") as string) : parsePage(response);
    pages.set(name, page);
    return page;
  };
  const email = createPersonEmail();
  const fromPage = { referer: `${origin}/` };
  await keep("unconfirmed", await browser.open(`/authorize${search}`));
  await keep("signed out", await browser.open(`/authorize${search}`, fromPage));
  const step = (name: string, path: string, fields: Readonly<Record<string, string>>) =>
    browser.post(`/authorize/${path}${search}`, fields).then((response) => keep(name, response));
  await step("no address", "email", { email: "pat" });
  await step("code", "email", { email });
  await step("no code", "code", { code: "1" });
  const code = await findEmailCode(email);
  await step("wrong code", "code", { code: String((Number(code) + 1) % 1_000_000).padStart(6, "0") });
  await step("new code", "new-code", {});
  const review = await step("review", "code", { code });
  const typed = {
    ...parseFormFields(review, `/authorize/review${search}`),
    "group.phone": "phone",
    "group.address": "address_line1 address_line2 city state zip country",
  };
  await step("wrong values", "decide", { ...typed, "field.phone": "12", "field.country": "Texas" });
  await step("shared", "decide", { ...typed, "field.phone": "+1 202 555 0123", "field.city": "Testville" });
  await keep("decided", await browser.open(`/authorize${search}`));
  const optionalSearch = searchFor({ scope: "email? name?" });
  const more = await keep("something is shared", await browser.open(`/authorize${optionalSearch}`, fromPage));
  await keep(
    "nothing ticked",
    await browser.post(`/authorize/decide${optionalSearch}`, parseFormFields(more, `/authorize/review${optionalSearch}`)),
  );
  await keep("not now", await browser.open(`/authorize/not-now${optionalSearch}`));
  for (const [name, change] of [
    ["unknown client", { client_id: "pc_live_00000000000000000000000000" }],
    ["wrong origin", { origin: "https://evil.example" }],
    ["bad parameter", { scope: "nothing" }],
    ["test client", { client_id: world.acme.clients.sandbox }],
  ] as const)
    await keep(name, await browser.open(`/authorize${searchFor(change)}`, fromPage));
  return pages;
};

describe("translation", () => {
  test("covers the pages of the app", async () => {
    const person = await createPersonWithRecords();
    const english = await openAppPages("en", person);
    expect(english.size).toBeGreaterThan(30);
    for (const language of languages.filter((one) => one !== "en"))
      expect(listUntranslated(english, await openAppPages(language, person)), language).toEqual([]);
  });

  test("covers the names of countries in the app and on the consent sheet", async () => {
    const { headers } = await signInPerson();
    const pages = { "/app/details": "country", [`/authorize${searchFor({ scope: "address" })}&edit=1`]: "field.country" };
    for (const [language, name] of Object.entries({ en: "United States", es: "Estados Unidos", "fr-CA": "États-Unis" }))
      for (const [path, field] of Object.entries(pages)) {
        const page = await read(path, { headers: { ...headers, "accept-language": language, referer: `${origin}/` } });
        const lists = findByTagName(page.document, "select").filter(({ attribs }) => attribs.name === field);
        const options = lists.flatMap((list) => findByTagName(list, "option"));
        expect(options.filter(({ attribs }) => attribs.value === "US").map(extractText), path).toEqual([name]);
      }
  });

  test("covers the consent sheet", async () => {
    const english = await openSheetPages("en");
    expect(english.get("shared")?.status).toBe(200);
    for (const language of languages.filter((one) => one !== "en"))
      expect(listUntranslated(english, await openSheetPages(language)), language).toEqual([]);
  });

  test("covers signing in and the email with the code", async () => {
    const openPagesIn = async (language: Language): Promise<Pages> => {
      await clearCodes();
      const email = createPersonEmail();
      const browser = openBrowserIn(language);
      const pages = new Map([["sign in", await browser.open("/app")]]);
      pages.set("no address", parsePage(await browser.post("/app/sign-in", { email: "pat" })));
      await browser.post("/app/sign-in", { email });
      pages.set("code", await browser.open("/app"));
      pages.set("no code", parsePage(await browser.post("/app/code", { code: "1" })));
      pages.set("failed", await browser.open("/app?outcome=failed"));
      pages.set("passkey", parsePage(await browser.post("/app/passkey", {})));
      const [mail] = await listMailTo(email);
      pages.set("mail", parsePage({ ...(pages.get("code") as ReadPage), text: `<html><p>${mail?.subject}</p></html>` }));
      return pages;
    };
    const english = await openPagesIn("en");
    for (const language of languages.filter((one) => one !== "en"))
      expect(listUntranslated(english, await openPagesIn(language)), language).toEqual([]);
  });
});

describe("a message", () => {
  /** Lists every message in a catalog with its path. */
  const flattenSentences = (words: object, path = ""): readonly (readonly [string, string])[] =>
    Object.entries(words).flatMap(([key, value]: [string, unknown]) =>
      typeof value === "string" ? [[`${path}.${key}`, value] as const] : flattenSentences(value as object, `${path}.${key}`),
    );
  const mapSentences = (language: Language) =>
    new Map(
      flattenSentences({
        pages: publicMessages[language],
        app: appMessages[language],

        sheet: sheetMessages[language],
        connect: connectMessages[language],
      }),
    );
  const listPlaceholders = (text: string): string => [...new Set(text.match(/\{\w+\}/g))].sort().join(" ");

  test("has the same placeholders in every language", () => {
    const english = mapSentences("en");
    expect(english.size).toBeGreaterThan(400);
    for (const language of languages)
      for (const [path, text] of mapSentences(language))
        expect(listPlaceholders(text), `${language}${path}`).toBe(listPlaceholders(english.get(path) ?? ""));
  });

  test("follows Quebec French typography: no-break spaces at colons and guillemets, none before ? ! ;", () => {
    const wrong = [...mapSentences("fr-CA")].filter(([, text]) => /\s[?!;]| [:»]|« |\S:(?=\s|$)/.test(text));
    expect(wrong).toEqual([]);
  });
});
