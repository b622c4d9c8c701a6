// Looks for the proof of a domain where it is to be published. The addresses are made here from a judged domain; the guarded fetcher
// judges each of them, and each redirect, again.
import {
  challengesOf,
  fileSighting,
  metaName,
  otherTexts,
  tagSighting,
  txtSighting,
  type Sighting,
} from "../../../core/accounts/domain-claim.ts";
import type { PageAnswer } from "../../../core/access/outbound-page.ts";
import type { VerificationMethod } from "../../../core/access/origins.ts";
import { secondMs } from "../../../core/time.ts";
import type { Runtime, Web } from "../../services.ts";

const totalMs = 8 * secondMs;
const maxPageBytes = 1_048_576;
const maxFileBytes = 16_384;

/** Development only: the `host:port` under which a local domain is served. */
export const localHostsOf = ({ config }: Runtime): readonly string[] => config.devFetchAllow.map((entry) => entry.replace(/:\d+$/, ""));

/** The address as it stands in the challenge, or where development serves that host. */
const addressOf = ({ config }: Runtime, domain: string, url: string): string => {
  const local = config.devFetchAllow.find((entry) => entry.replace(/:\d+$/, "") === domain);
  return local === undefined ? url : `http://${local}${new URL(url).pathname}`;
};

/** What keeps a page from being read, as a sighting; anything else is an address that is not public. */
const sightings: Partial<Record<string, Sighting>> = {
  left_site: "elsewhere",
  redirects: "elsewhere",
  status: "error",
  type: "other_type",
  too_large: "too_large",
};

const sightingOf = (answer: Exclude<PageAnswer, { outcome: "page" }>): Sighting =>
  answer.outcome === "unreached" ? "unanswered" : (sightings[answer.reason] ?? "not_public");

const open = (services: Runtime & Web, domain: string, url: string, maxBytes: number): Promise<PageAnswer> =>
  services.fetchPage({
    url: addressOf(services, domain, url),
    userAgent: `svc-domain-check/1.0 (+${services.config.verifyUrl})`,
    isWithin: (host) => host === domain || host === `www.${domain}`,
    ports: [443],
    totalMs,
    maxBytes,
  });

/** What is seen of a proof by one method; in DNS with what stands at the name instead. Never throws. */
export const findProof = async (
  services: Runtime & Web,
  { domain, token }: { readonly domain: string; readonly token: string },
  method: VerificationMethod,
): Promise<{ readonly sighting: Sighting; readonly otherTexts: readonly string[] }> => {
  const { dns, meta, wellKnown } = challengesOf(domain, token);
  if (method === "dns") {
    const answers = await services.lookUpTxt(dns.name);
    return { sighting: txtSighting(answers, token), otherTexts: otherTexts(answers, token) };
  }
  const isMeta = method === "meta";
  const answer = await open(services, domain, isMeta ? meta.url : wellKnown.url, isMeta ? maxPageBytes : maxFileBytes);
  if (answer.outcome !== "page") return { sighting: sightingOf(answer), otherTexts: [] };
  const { body } = answer.page;
  const sighting = isMeta ? tagSighting(services.metaContents(body, metaName), token) : fileSighting(body, token);
  return { sighting, otherTexts: [] };
};
