// Tests that the text and links extracted from an HTML page are exactly those in its markup.
import { describe, expect, test } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { parsePage, type PageContent } from "../../workers/adapters/html-page.ts";

const url = "https://www.shop.com/legal/privacy";
const read = (body: string): PageContent => parsePage({ url, type: "text/html", body });

describe("the text of a page", () => {
  test.each([
    [
      "blocks are lines, inline elements are not",
      "<h1>Our <em>Privacy</em></h1><p>We keep <b>lit</b>tle.<br>Really.</p>",
      "Our Privacy\nWe keep little.\nReally.",
    ],
    [
      "scripts, styles, noscript and templates contain no words",
      "a<script>x</script><style>y</style><noscript>z</noscript><template>t</template>b",
      "a\nb",
    ],
    ["the title is the first line", "<title>Privacy</title><body>Text", "Privacy\nText"],
    [
      "entities become the characters that they stand for",
      "&lt;b&gt; &amp;amp; caf&eacute; &#8364; &#x1F512; &nbsp;x&shy;y",
      "<b> &amp; café € 🔒 x\u00ady",
    ],
    ["comments and declarations contain no words", "<!doctype html><!-- secret -->a<!-- -- >b", "a"],
    ["cells and items are lines", "<table><tr><td>1<td>2</table><ul><li>a<li>b</ul>", "1\n2\na\nb"],
    ["unclosed and stray tags do not matter", "<div><p>a</span></b>b<p>c", "ab\nc"],
    ["a textarea and a title hold text, not tags", "<textarea><b>x</b></textarea>", "<b>x</b>"],
    ["hidden words are included", '<p hidden>a</p><p style="display:none">b</p>', "a\nb"],
    ["an invalid character becomes the replacement character", "&#xD800;&#0;", "\ufffd\ufffd"],
    ["a page with only markup has no text", "<div><img src=x alt=privacy></div>", ""],
  ])("%s", (_, body, text) => {
    expect(read(body).text).toBe(text);
  });

  test("has the documented hash for the example of docs/reference/policies.md", () => {
    const { text } = read("<title>Privacy</title><h1>Datenschutz</h1>\n<p>Wir   speichern <b>wenig</b> &amp;&nbsp;kurz.</p>\n");
    expect(sha256Hex(text)).toBe("3fc6547392ca229dde221a3a44d6a6231c5605475e77d12db8936792595b8cff");
  });

  test("is unchanged plain text", () => {
    expect(parsePage({ url, type: "text/plain", body: "<b>Privacy</b>\r\n\r\n &amp; more" })).toEqual({
      text: "<b>Privacy</b>\n&amp; more",
      links: [],
    });
  });

  test("is the same wherever the page is split into chunks", () => {
    for (let before = 16_320; before <= 16_390; before += 1) {
      const { text } = read(`${"x".repeat(before)}<p>caf&eacute;<b>s</b>😀<script>z</script><!-- c --></p>&amp;amp`);
      expect(text.slice(before)).toBe("\ncafés😀\n&amp");
    }
  });

  test("is empty for a page that is nested too deeply", () => {
    expect(read(`Privacy${"<div>".repeat(6_000)}`)).toEqual({ text: "", links: [] });
    expect(read(`Privacy${"<div>".repeat(900)}`).text).toBe("Privacy");
    expect(read(`Privacy${"<p>policy</p>".repeat(20_000)}`).text).toHaveLength("Privacy".length + 20_000 * "\npolicy".length);
  });
});

describe("the links of a page", () => {
  const extractLinks = (body: string): readonly unknown[] => read(body).links;
  test("have their URL, relations and text", () => {
    expect(extractLinks('<a href="/p" rel="NoFollow  privacy-policy"> Privacy <b>policy</b>\n</a>')).toEqual([
      { url: "https://www.shop.com/p", rel: ["nofollow", "privacy-policy"], text: "Privacy policy" },
    ]);
  });
  test("come from a, area and link elements", () => {
    expect(
      extractLinks('<link rel="terms-of-service" href="t"><map><area href="/a" title="Terms"></map><a>none</a><form action="/f"></form>'),
    ).toEqual([
      { url: "https://www.shop.com/legal/t", rel: ["terms-of-service"], text: "" },
      { url: "https://www.shop.com/a", rel: [], text: "Terms" },
    ]);
  });
  test("have their label as text when they have no text", () => {
    expect(extractLinks('<a href="/p" aria-label="Privacy policy"><img src="x"></a>')).toMatchObject([{ text: "Privacy policy" }]);
  });
  test("are relative to the first base element only", () => {
    expect(extractLinks('<base href="/de/"><base href="/fr/"><a href="p">x</a>')).toMatchObject([{ url: "https://www.shop.com/de/p" }]);
  });
  test("keep the host as written", () => {
    expect(extractLinks('<a href="https://2130706433/p">x</a><a href="https://Shop%2ecom/p">x</a>')).toMatchObject([
      { url: "https://2130706433/p" },
      { url: "https://Shop%2ecom/p" },
    ]);
  });
  test("include no mail, script or same-page links", () => {
    expect(
      extractLinks(
        '<a href="mailto:x@shop.com">x</a><a href="javascript:x()">x</a><a href="#terms">x</a><a href="/legal/privacy#a">x</a><a href="">x</a>',
      ),
    ).toEqual([]);
  });
  test("exclude links inside ignored elements", () => {
    expect(extractLinks('<noscript><a href="/p">Privacy</a></noscript><template><a href="/t">Terms</a></template>')).toEqual([]);
  });
  test("end where the next link begins if they are nested or not closed", () => {
    expect(extractLinks('<a href="/1">one<a href="/2">two')).toMatchObject([{ text: "one" }, { text: "two" }]);
  });
  test("are at most 10,000", () => {
    expect(extractLinks('<a href="/p">x</a>'.repeat(10_500))).toHaveLength(10_000);
  });
  test("are not resolved against the page if its base element is too long", () => {
    const base = `<base href="/${"\u20ac".repeat(2_000)}/">`; // nine times as long when it is encoded
    const { links } = read(`${base}${'<a href="p">x</a>'.repeat(10_000)}<a href="https://shop.com/terms">Terms</a>`);
    expect(links.map((link) => link.url)).toEqual(["https://shop.com/terms"]);
  });
});
