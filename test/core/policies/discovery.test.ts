// Tests which links on a page count as links to its policies, in seven languages, and how several such links are ranked.
import { describe, expect, test } from "vitest";
import { findPolicyCandidates, looksLikePolicy, getWellKnownPolicyUrls, type PageLink } from "../../../core/policies/discovery.ts";

const link = (address: string, text = "", rel = ""): PageLink => ({ url: address, text, rel: rel === "" ? [] : rel.split(" ") });
const isWithinSite = (hostname: string): boolean => hostname === "shop.com" || hostname.endsWith(".shop.com");
const findPrivacyCandidates = (...links: PageLink[]): readonly string[] => findPolicyCandidates("privacy", links, isWithinSite);
const findTermsCandidates = (...links: PageLink[]): readonly string[] => findPolicyCandidates("terms", links, isWithinSite);
const p = "https://shop.com/x1";
const t = "https://shop.com/x2";

describe("a link text", () => {
  test.each([
    ...[
      "Privacy Policy",
      "privacy",
      "PRIVACY NOTICE",
      "Privacy & Cookies",
      "Privacy and Cookie Policy",
      "Our privacy statement",
      "Privacy | Legal",
    ],
    ...["Política de privacidad", "Aviso de Privacidad", "Protección de datos", "Privacidad"],
    ...["Politique de confidentialité", "Protection des données", "Confidentialité", "Vie privée"],
    ...[
      "Datenschutz",
      "Datenschutzerklärung",
      "Datenschutzhinweise",
      "Impressum & Datenschutz",
      "Hinweise zum Datenschutz und Datenschutzerklärung",
    ],
    ...["Política de Privacidade", "Privacidade", "Proteção de dados"],
    ...["Informativa sulla privacy", "Informativa Privacy", "Privacy e cookie", "Protezione dei dati personali"],
    ...["Privacybeleid", "Privacyverklaring", "Privacy en cookies"],
  ])("names the privacy policy: %s", (text) => {
    expect(findPrivacyCandidates(link(p, text))).toEqual([p]);
  });

  test.each([
    ...[
      "Terms of Service",
      "Terms & Conditions",
      "Terms and Conditions",
      "Terms",
      "TERMS OF USE",
      "Conditions of use",
      "T&C",
      "User Agreement",
    ],
    ...["Términos y condiciones", "Condiciones de uso", "Condiciones generales de venta"],
    ...["Conditions générales d'utilisation", "Conditions d’utilisation", "CGU", "CGV / CGU"],
    ...["AGB", "Nutzungsbedingungen", "Allgemeine Geschäftsbedingungen", "AGB & Datenschutz"],
    ...["Termos de uso", "Termos e condições"],
    ...["Termini e condizioni", "Condizioni d'uso", "Condizioni generali"],
    ...["Algemene voorwaarden", "Gebruiksvoorwaarden", "Voorwaarden"],
  ])("names the terms: %s", (text) => {
    expect(findTermsCandidates(link(t, text))).toEqual([t]);
  });

  test.each([
    ...[
      "Privacy settings",
      "Your privacy choices",
      "Do not sell my data",
      "Cookie policy",
      "Contact",
      "Return policy",
      "Our terms to win",
      "Search terms",
    ],
    ...["Datenschutz-Einstellungen", "Imprint", "Long-term rentals", "Payment terms", "Weather conditions", ""],
    `Read more about how we think about the privacy policy of the future and about ${"a very long story ".repeat(6)}`,
  ])("names neither policy: %s", (text) => {
    expect([...findPrivacyCandidates(link(p, text)), ...findTermsCandidates(link(p, text))]).toEqual([]);
  });

  test("can match both policies", () => {
    expect(findPrivacyCandidates(link(p, "Privacy & Terms"))).toEqual([p]);
    expect(findTermsCandidates(link(p, "Privacy & Terms"))).toEqual([p]);
  });
});

describe("a link path", () => {
  test.each([
    ...["/privacy", "/Privacy/", "/privacy-policy", "/privacy_policy.html", "/legal/privacy.php", "/en/privacypolicy.aspx", "/datenschutz"],
    ...[
      "/datenschutzerklaerung.html",
      "/politica-de-privacidad",
      "/pol%C3%ADtica-de-privacidade",
      "/politique-de-confidentialite",
      "/privacybeleid",
    ],
  ])("names the privacy policy: %s", (path) => {
    expect(findPrivacyCandidates(link(`https://shop.com${path}`, "here"))).toEqual([`https://shop.com${path}`]);
  });
  test.each([
    "/terms",
    "/terms-of-service",
    "/tos",
    "/agb.html",
    "/legal/terms-and-conditions",
    "/terms-conditions/",
    "/voorwaarden",
    "/nutzungsbedingungen",
  ])("names the terms: %s", (path) => {
    expect(findTermsCandidates(link(`https://shop.com${path}`))).toEqual([`https://shop.com${path}`]);
  });
  test.each(["/", "/privacy/settings", "/terms/2019/archive", "/blog/our-privacy-story", "/%E0%A4%A"])(
    "names neither policy: %s",
    (path) => {
      expect([...findPrivacyCandidates(link(`https://shop.com${path}`)), ...findTermsCandidates(link(`https://shop.com${path}`))]).toEqual(
        [],
      );
    },
  );
});

describe("among several links", () => {
  test("a declared link ranks first, then a phrase, then a single word, then a path", () => {
    const links = [
      link("https://shop.com/privacy", "here"),
      link("https://shop.com/a", "Privacy"),
      link("https://shop.com/b", "Privacy policy"),
      link("https://shop.com/c", "whatever", "nofollow privacy-policy"),
    ];
    expect(findPrivacyCandidates(...links)).toEqual(["https://shop.com/c", "https://shop.com/b", "https://shop.com/a"]);
  });
  test("the shorter of two phrases wins, then the earlier link", () => {
    expect(
      findPrivacyCandidates(
        link("https://shop.com/blog", "How to write a privacy policy"),
        link("https://shop.com/p", "Privacy policy"),
      )[0],
    ).toBe("https://shop.com/p");
    expect(findPrivacyCandidates(link("https://shop.com/1", "Privacy policy"), link("https://shop.com/2", "Privacy notice"))[0]).toBe(
      "https://shop.com/1",
    );
  });
  test("each URL is tried once, and at most three are", () => {
    expect(findPrivacyCandidates(link(p, "Privacy"), link(p, "Privacy policy"))).toEqual([p]);
    expect(findPrivacyCandidates(...["1", "2", "3", "4"].map((n) => link(`https://shop.com/${n}`, "Privacy")))).toHaveLength(3);
  });
  test("links to other sites are excluded, declared or not", () => {
    const links = [link("https://other.com/p", "Privacy policy", "privacy-policy"), link("https://shop.com.other.com/p", "Privacy policy")];
    expect(findPrivacyCandidates(...links, link("https://legal.shop.com/p", "Privacy"))).toEqual(["https://legal.shop.com/p"]);
  });
  test("each policy has its own link relation", () => {
    expect(findTermsCandidates(link(p, "x", "privacy-policy"), link(t, "x", "terms-of-service"))).toEqual([t]);
  });
});

test("the common paths are tried when there are no links", () => {
  expect(getWellKnownPolicyUrls("privacy", "https://shop.com")).toEqual([
    "https://shop.com/privacy",
    "https://shop.com/privacy-policy",
    "https://shop.com/legal/privacy",
    "https://shop.com/policies/privacy-policy",
  ]);
  expect(getWellKnownPolicyUrls("terms", "https://shop.com")[1]).toBe("https://shop.com/terms-of-service");
});

test("a guessed page counts only when its start mentions the policy", () => {
  expect(looksLikePolicy("privacy", "Acme\nPrivacy, version 3\nWe keep little.")).toBe(true);
  expect(looksLikePolicy("terms", "Nutzungsbedingungen der Acme GmbH")).toBe(true);
  expect(looksLikePolicy("terms", "Page not found\nTry the front page.")).toBe(false);
  expect(looksLikePolicy("privacy", `Acme shop\n${"Solar panels and more. ".repeat(60)} privacy policy`)).toBe(false);
});
