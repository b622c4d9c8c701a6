// Finds a site's privacy policy and terms among the links on a page. Links whose rel attribute declares a policy (RFC 6903) come first,
// followed by links whose text names a policy, and then links whose path names one. If there are none, common paths are tried.
import type { PolicyKind } from "./snapshot.ts";

export interface PageLink {
  /** The absolute URL, without a fragment, and with the host as written in the page. */
  readonly url: string;
  /** The tokens of the rel attribute, converted to lowercase. */
  readonly rel: readonly string[];
  readonly text: string;
}

const linkRelations: Readonly<Record<PolicyKind, string>> = { privacy: "privacy-policy", terms: "terms-of-service" };

// The phrases that name a policy, in the form that `foldText` returns. They are in English, Spanish, French, German, Portuguese, Italian
// and Dutch. Some are compounds without spaces, as they appear in URLs.
const policyPhrases: Readonly<Record<PolicyKind, readonly string[]>> = {
  privacy: [
    ...["privacy policy", "privacy policies", "privacy notice", "privacy statement", "privacypolicy", "privacynotice", "privacystatement"],
    ...["privacy and cookie", "privacy and cookies", "privacy & cookie", "privacy & cookies", "data privacy"],
    ...["data protection policy", "data protection notice", "data protection statement"],
    ...["politica de privacidad", "politicas de privacidad", "aviso de privacidad", "declaracion de privacidad", "proteccion de datos"],
    ...["politique de confidentialite", "charte de confidentialite", "declaration de confidentialite", "protection des donnees"],
    ...["donnees personnelles", "vie privee"],
    ...["datenschutzerklarung", "datenschutzerklaerung", "datenschutzhinweis", "datenschutzhinweise", "datenschutzbestimmungen"],
    ...["datenschutzrichtlinie", "datenschutzinformation", "datenschutzinformationen"],
    ...["politica de privacidade", "aviso de privacidade", "declaracao de privacidade", "protecao de dados"],
    ...["informativa sulla privacy", "informativa privacy", "politica sulla privacy", "protezione dei dati", "trattamento dei dati"],
    ...["privacybeleid", "privacyverklaring", "privacyreglement", "gegevensbescherming"],
  ],
  terms: [
    ...["terms of service", "terms of use", "terms and conditions", "terms & conditions", "terms conditions", "conditions of use"],
    ...["termsofservice", "termsofuse", "termsandconditions", "termsconditions", "conditions of service", "legal terms", "website terms"],
    ...["user agreement", "service agreement", "t & c", "t & cs"],
    ...["terminos y condiciones", "terminos de servicio", "terminos del servicio", "terminos de uso", "terminos legales"],
    ...["condiciones de uso", "condiciones de servicio", "condiciones del servicio", "condiciones generales"],
    ...["conditions generales", "conditions d utilisation", "conditions d usage", "conditions de service", "conditions de vente"],
    ...["nutzungsbedingungen", "geschaftsbedingungen", "geschaeftsbedingungen", "nutzungsvereinbarung"],
    ...["termos de servico", "termos do servico", "termos de uso", "termos e condicoes", "condicoes de uso", "condicoes gerais"],
    ...["termini di servizio", "termini del servizio", "termini e condizioni", "termini d uso", "termini di utilizzo"],
    ...["condizioni d uso", "condizioni di utilizzo", "condizioni di servizio", "condizioni di vendita", "condizioni generali"],
    ...["algemene voorwaarden", "gebruiksvoorwaarden", "gebruikersvoorwaarden", "servicevoorwaarden"],
  ],
};

/**
 * Words that name a policy only on their own: as an entire link text or path segment, or as one of the parts that a conjunction joins.
 * "Privacy & Terms" counts, but "Privacy settings" does not.
 */
const standaloneTerms: Readonly<Record<PolicyKind, readonly string[]>> = {
  privacy: [
    ...["privacy", "our privacy", "your privacy", "data protection"],
    ...["datenschutz", "privacidad", "privacidade", "confidentialite", "riservatezza"],
  ],
  terms: [
    ...["terms", "our terms", "conditions", "tos", "agb", "cgu", "cgv"],
    ...["terminos", "condiciones", "termos", "condicoes", "termini", "condizioni", "voorwaarden"],
  ],
};

const wellKnownPaths: Readonly<Record<PolicyKind, readonly string[]>> = {
  privacy: ["/privacy", "/privacy-policy", "/legal/privacy", "/policies/privacy-policy"],
  terms: ["/terms", "/terms-of-service", "/legal/terms", "/policies/terms-of-service"],
};

const maxLinkTextLength = 120; // longer text is a sentence about a policy, not a link to one
const maxCandidates = 3;

/** Converts text to lowercase, removes accents, replaces separators with ` & `, and replaces other punctuation with single spaces. */
const foldText = (text: string): string =>
  text
    .normalize("NFD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/[&|/,;·\u2022+]/g, " & ")
    .replace(/[^\p{L}\p{N}&]+/gu, " ")
    .trim();

const containsPhrase = (text: string, phrase: string): boolean => ` ${text} `.includes(` ${phrase} `);

/** Splits "Privacy & Terms" into "Privacy" and "Terms". */
const splitAtConjunctions = (text: string): readonly string[] => text.split(/ (?:&|and|und|y|et|en|e) /);

type MatchStrength = "phrase" | "word" | null;

const getMatchStrength = (kind: PolicyKind, text: string): MatchStrength => {
  if (policyPhrases[kind].some((phrase) => containsPhrase(text, phrase))) return "phrase";
  return splitAtConjunctions(text).some((part) => standaloneTerms[kind].includes(part)) ? "word" : null;
};

const decodePathSegment = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // the segment contains invalid escapes, so it is used as written
  }
};

/** Returns whether the last path segment names the policy, as in /legal/privacy-policy.html or /en/terms/. */
const isPolicyPath = (kind: PolicyKind, address: string): boolean => {
  const last = new URL(address).pathname.split("/").findLast((part) => part !== "") ?? "";
  return getMatchStrength(kind, foldText(decodePathSegment(last).replace(/\.[a-z]{3,5}$/i, ""))) !== null;
};

const rankLink = (kind: PolicyKind, link: PageLink): number | null => {
  if (link.rel.includes(linkRelations[kind])) return 0;
  const strength = link.text.length > maxLinkTextLength ? null : getMatchStrength(kind, foldText(link.text));
  if (strength !== null) return strength === "phrase" ? 1 : 2;
  return isPolicyPath(kind, link.url) ? 3 : null;
};

/**
 * Returns up to three URLs that may serve the policy, best first, without duplicates. Among equally good links, shorter text comes first
 * ("Privacy Policy" before "How to write a privacy policy"). Links with text of the same length stay in page order. Skips links to hosts
 * that `isWithin` does not accept.
 */
export const findPolicyCandidates = (
  kind: PolicyKind,
  links: readonly PageLink[],
  isWithin: (hostname: string) => boolean,
): readonly string[] => {
  const ranked = links
    .filter(({ url }) => URL.canParse(url) && isWithin(new URL(url).hostname))
    .flatMap((link) => {
      const rank = rankLink(kind, link);
      return rank === null ? [] : [{ rank, length: rank === 0 ? 0 : link.text.length, address: link.url }];
    })
    .sort((a, b) => a.rank - b.rank || a.length - b.length);
  return [...new Set(ranked.map(({ address }) => address))].slice(0, maxCandidates);
};

/** Returns common policy URLs, for a site without links to policies. */
export const getWellKnownPolicyUrls = (kind: PolicyKind, origin: string): readonly string[] =>
  wellKnownPaths[kind].map((path) => origin + path);

const inspectedLength = 1_000; // enough for the title, navigation and heading; farther down, almost every page mentions terms

/**
 * Returns whether the start of a page at a common URL mentions the policy. Many sites return a page for every URL, so a page at such a URL
 * is not necessarily a policy.
 */
export const looksLikePolicy = (kind: PolicyKind, text: string): boolean => {
  const plain = foldText(text.slice(0, inspectedLength));
  return [...policyPhrases[kind], ...standaloneTerms[kind]].some((phrase) => containsPhrase(plain, phrase));
};
