// Tests text from third parties on a page. Whatever the text contains, the page has the same elements and attributes as with harmless text,
// and shows the text unchanged. Warnings next to the text describe what readers cannot see.
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { analyzeAppearance } from "../../workers/pages/shared/text-appearance.ts";
import { issueCertificate } from "../support/world.ts";
import { listBoundTexts, listElements, findByTagName, open, findSection, extractWords, type Element, type ReadPage } from "./page.ts";

/** A certificate whose stored texts are replaced by the text under test, because the API would refuse that text. */
let certId: string;

beforeAll(async () => {
  const receipt = await issueCertificate({
    entities: ["One", "Two", "Three"],
    entities_accepted: ["One"],
    entities_rejected: ["Two"],
    fields: { email: "pat@example.com" },
  });
  certId = receipt.cert_id;
  for (const trigger of [
    "certificates_immutable",
    "certificates_person",
    "disclosures_immutable",
    "policy_snapshots_immutable",
    "certificates_policies_linked",
    "entity_lists_immutable",
    "certificate_forms_immutable",
    "certificate_groups_immutable",
  ])
    await env.DB.exec(`DROP TRIGGER ${trigger}`);
  await env.DB.batch([
    env.DB.prepare(
      "INSERT INTO policy_snapshots (id, domain, kind, source_url, content_hash, captured_at) VALUES ('pol_x', 'x', 'privacy', 'x', ?, 1)",
    ).bind("ab".repeat(32)),
    env.DB.prepare("INSERT INTO policy_captures (id, domain, captured_at, privacy_id) VALUES ('cap_x', 'x', 1, 'pol_x')"),
    env.DB.prepare("UPDATE certificates SET policy_capture_id = (SELECT ord FROM policy_captures WHERE id = 'cap_x') WHERE id = ?").bind(
      certId,
    ),
  ]);
});

/** Opens the page with `text` in every field that comes from third parties. */
const pageHolding = async (text: string, policyUrl = `https://example.com/${text}`): Promise<ReadPage> => {
  const three = [`1${text}`, `2${text}`, `3${text}`];
  await env.DB.batch([
    env.DB.prepare(
      "UPDATE entity_lists SET entities = ? WHERE id = (SELECT g.entity_list_id FROM certificates c JOIN certificate_groups g ON g.id = c.group_id WHERE c.id = ?)",
    ).bind(JSON.stringify(three), certId),
    env.DB.prepare(
      "UPDATE disclosures SET text = ? WHERE hash = (SELECT f.disclosure_hash FROM certificate_forms f JOIN certificates c ON c.form_id = f.id WHERE c.id = ?)",
    ).bind(text, certId),
    env.DB.prepare("UPDATE purposes SET purpose = ? WHERE id = (SELECT purpose_id FROM certificates WHERE id = ?)").bind(text, certId),
    env.DB.prepare("UPDATE policy_snapshots SET source_url = ?, content_hash = ? WHERE id = 'pol_x'").bind(policyUrl, "cd".repeat(32)),
    ...["accepted_list_id", "rejected_list_id"].map((column, at) =>
      env.DB.prepare(`UPDATE entity_lists SET entities = ? WHERE id = (SELECT ${column} FROM certificates WHERE id = ?)`).bind(
        JSON.stringify(three.slice(at, at + 1)),
        certId,
      ),
    ),
    env.DB.prepare("UPDATE certificate_forms SET business_name = ? WHERE id = (SELECT form_id FROM certificates WHERE id = ?)").bind(
      text,
      certId,
    ),
    env.DB.prepare("UPDATE certificate_groups SET origin_domain = ? WHERE id = (SELECT group_id FROM certificates WHERE id = ?)").bind(
      text,
      certId,
    ),
    env.DB.prepare("UPDATE certificates SET subject_masked = ? WHERE id = ?").bind(
      JSON.stringify({ email: text, [`k${text}`]: text }),
      certId,
    ),
  ]);
  return open(certId, { "user-agent": "Slackbot 1.0" });
};

const isRemark = (element: Element | null): boolean =>
  element !== null && (element.attribs?.class?.split(" ").includes("remark") === true || isRemark(element.parent as Element | null));

const isSprite = (element: Element | null): boolean =>
  element !== null && (element.attribs?.class === "sprite" || isSprite(element.parent as Element | null));

/** Lists every element with its attribute names. Excludes warnings, which depend on the text, and the shapes of icons. */
const extractSkeleton = (page: ReadPage): string[] =>
  listElements(page.document)
    .filter((element) => !isRemark(element) && !isSprite(element))
    .map((element) => `${element.name} ${Object.keys(element.attribs).sort().join(" ")}`);

const hostile = [
  "<script>alert(1)</script>",
  "</script><script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg/onload=alert(1)>",
  "<svg><script>alert(1)</script></svg>",
  "<math><mtext></mtext><mglyph><style><img src=x onerror=alert(1)>",
  "<iframe src=javascript:alert(1)>",
  "<iframe srcdoc='<script>alert(1)</script>'>",
  "<object data=javascript:alert(1)>",
  "<embed src=javascript:alert(1)>",
  "<base href=https://evil.example/>",
  "<meta http-equiv=refresh content='0;url=https://evil.example'>",
  "<link rel=stylesheet href=https://evil.example/x.css>",
  "<style>*{display:none}</style>",
  "<form action=https://evil.example><button>Withdraw</button></form>",
  "<input autofocus onfocus=alert(1)>",
  "<a href=javascript:alert(1)>x</a>",
  "<details open ontoggle=alert(1)>",
  "<template><script>alert(1)</script></template>",
  "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
  "<textarea></textarea><script>alert(1)</script>",
  "<title></title><script>alert(1)</script>",
  "</title></head><body><h1>Active</h1>",
  "</bdi></blockquote></section></main><h1>Not withdrawn</h1>",
  '</bdi><bdi data-bound="purpose">other</bdi>',
  "<!-- <script> -->",
  "--><script>alert(1)</script><!--",
  "<![CDATA[<script>alert(1)</script>]]>",
  "<?xml version='1.0'?><x/>",
  "]]>",
  '" onmouseover=alert(1) x="',
  "' onmouseover=alert(1) x='",
  "` onmouseover=alert(1) x=`",
  '"><script>alert(1)</script>',
  "'><script>alert(1)</script>",
  "javascript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "vbscript:msgbox(1)",
  "&lt;script&gt;alert(1)&lt;/script&gt;",
  "&#60;script&#62;",
  "&#x3c;script&#x3e;",
  "&amp;amp;",
  "&",
  "<",
  "<<<<",
  "<a",
  "\\u003cscript\\u003e",
  "{{constructor.constructor('alert(1)')()}}",
  "$" + "{alert(1)}",
  "#{alert(1)}",
  "%3Cscript%3Ealert(1)%3C/script%3E",
  "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
  "\uff1cscript\uff1ealert(1)\uff1c/script\uff1e",
  "a\r\nb\rc\nd",
  "\n leading and trailing \n",
  "\t",
  "a\u2028b\u2029c",
  "\u202eevil\u202c",
  "\u2066\u2067x",
  "\ufeff\u200bx",
  "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031e\u0349\u035a\u032f\u031e\u0320\u034dA",
  "\u{1f469}\u200d\u{1f469}\u200d\u{1f467}",
  "\u0623\u0648\u0627\u0641\u0642",
  "x".repeat(20_000),
  "null",
  "undefined",
  "[object Object]",
  "__proto__",
];

describe("hostile text in every field", () => {
  let twin: string[];
  beforeAll(async () => {
    twin = extractSkeleton(await pageHolding("harmless"));
  });

  test("covers more than forty kinds of text", () => expect(hostile.length).toBeGreaterThan(40));

  test.each(hostile.map((text) => [text.length > 60 ? `${text.slice(0, 60)}…` : text, text]))(
    "does not change any element for %j and reads back exactly",
    async (_shown, text) => {
      const page = await pageHolding(text);
      expect(page.status).toBe(200);
      expect(extractSkeleton(page)).toEqual(twin);
      expect(findByTagName(page.document, "script").map(({ attribs }) => attribs.src?.startsWith("/a/verify-"))).toEqual([true]);
      for (const member of ["business.name", "purpose", "disclosure", "origin_domain"]) {
        expect([...new Set(listBoundTexts(page, member))], member).toEqual([text]);
      }
      expect(page.text, "a browser would read a raw carriage return as a line feed").not.toMatch(/<bdi[^>]*>[^<]*\r/);
      expect(listBoundTexts(page, "entity")).toEqual([`1${text}`, `2${text}`, `3${text}`]);
    },
  );

  test.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\tscript:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "//evil.example",
    "/local",
    "file:///etc/passwd",
    "blob:https://x",
    "",
  ])("shows a policy at %j without linking it", async (url) => {
    const page = await pageHolding("harmless", url);
    expect(findByTagName(findSection(page, "policies"), "a")).toEqual([]);
    expect(extractWords(findSection(page, "policies"))).toContain(url.trim().replace("\t", " "));
  });
});

describe("warnings about text", () => {
  const zeroWidth = "\u200b";

  test.each([
    ["an ordinary name", "Acme, Inc. – Søren & Ağaoğlu", [], []],
    ["a zero-width space", `Ac${zeroWidth}me${zeroWidth}`, [{ code: "U+200B", count: 2 }], []],
    ["a soft hyphen", "Ac\u00adme", [{ code: "U+00AD", count: 1 }], []],
    [
      "an override and its end",
      "\u202eemca\u202c",
      [
        { code: "U+202E", count: 1 },
        { code: "U+202C", count: 1 },
      ],
      [],
    ],
    ["a tag character", "Acme\u{e0041}", [{ code: "U+E0041", count: 1 }], []],
    ["a Hangul filler", "Acme\u3164", [{ code: "U+3164", count: 1 }], []],
    ["a blank braille pattern", "Acme\u2800", [{ code: "U+2800", count: 1 }], []],
    ["a joiner between Latin letters", "Ac\u200dme", [{ code: "U+200D", count: 1 }], []],
    ["a joiner in Persian spelling", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", [], []],
    ["a joiner in an emoji", "\u{1f469}\u200d\u{1f52c} Lab", [], []],
    ["a selector after a heart", "We \u2764\ufe0f solar", [], []],
    ["a keycap", "1\ufe0f\u20e3", [], []],
    ["a flag", "\u{1f1e8}\u{1f1e6} Canada", [], []],
    ["a selector after a letter", "Acm\ufe0fe", [{ code: "U+FE0F", count: 1 }], []],
    ["a Cyrillic letter in a Latin word", "\u0410cme", [], ["Cyrillic", "Latin"]],
    ["a Greek letter in a Latin word", "Acm\u03b5", [], ["Greek", "Latin"]],
    ["a Cyrillic word that looks Latin, among Latin words", "\u0410\u0421\u041c\u0415 Solar", [], ["Cyrillic", "Latin"]],
    ["a Russian name beside a Latin one", "\u042f\u043d\u0434\u0435\u043a\u0441 Cloud", [], []],
    [
      "a Russian sentence with one-letter words and a brand",
      "\u042f \u0441\u043e\u0433\u043b\u0430\u0441\u0435\u043d \u0441 Acme \u0438 \u043e \u043d\u0438\u0445",
      [],
      [],
    ],
    ["Japanese beside Latin", "Toyota\u30c8\u30e8\u30bf\u81ea\u52d5\u8eca", [], []],
    ["Arabic beside Latin", "Acme \u0634\u0631\u0643\u0629", [], []],
    ["all Cyrillic", "\u041e\u041e\u041e \u0420\u043e\u043c\u0430\u0448\u043a\u0430", [], []],
  ])("report exactly the findings for %s", (_what, text, invisible, alphabets) => {
    expect(analyzeAppearance(text)).toEqual({ invisibleCharacters: invisible, alphabets });
  });

  test("appear next to the text they are about, with text and an icon", async () => {
    const page = await pageHolding(`\u0410cme${zeroWidth}`);
    const remarks = listElements(page.document).filter((element) => element.attribs.class?.split(" ").includes("remark"));
    const warnings = new Set(remarks.map(extractWords));
    expect(warnings).toEqual(
      new Set(["Contains invisible characters: U+200B.", "Mixes look-alike letters from different alphabets: Cyrillic, Latin."]),
    );
    expect(remarks.every((remark) => findByTagName(remark, "svg").length === 1)).toBe(true);
    // Nine texts (business, disclosure, three recipients, purpose, two masked values, policy) with two warnings each.
    expect(remarks).toHaveLength(18);
  });
});
