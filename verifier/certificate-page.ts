// Renders certificate.html again from the other files in a pack and compares the result with the file, to find a page that contradicts the
// certificate. This is possible because the page is part of the pack format: the same files always result in the same page.
import type { ArticleParts, DisclosedFields } from "../core/certificates/evidence-article.ts";
import { renderCertificatePage } from "../core/certificates/evidence-html.ts";
import { html } from "../core/certificates/evidence-markup.ts";
import type { PackFiles } from "../core/certificates/evidence-zip.ts";
import type { SubmissionNotes } from "../core/certificates/submission-notes.ts";
import type { JsonObject } from "../core/canonical-json.ts";
import { isIsoTime } from "../core/ledger/key-validity.ts";
import { asObject, asString, asStrings, decodeText, isSha256Hex, parseCanonical } from "./json.ts";

type CaptureMethod = "browser" | "server";
type PageCertificate = ArticleParts["opened"]["certificate"];

export interface PageSource {
  readonly files: PackFiles;
  readonly certificate: JsonObject;
  /** The parts that the pack leaves out, according to its manifest. */
  readonly redacted: readonly string[];
  /** `captured_via` in the issuance's audit payload; undefined if it is absent. */
  readonly loggedCaptureMethod: unknown;
}

/** Thrown if a member has the wrong type or an unknown value. */
class UnreadableMember extends TypeError {}

const requireText = (value: unknown): string => {
  const text = asString(value);
  if (text === null) throw new UnreadableMember("a member is not text");
  return text;
};

const requireTexts = (value: unknown): readonly string[] => {
  const texts = asStrings(value);
  if (texts === null) throw new UnreadableMember("a member is not a list of texts");
  return texts;
};

const requireInstant = (value: unknown): number => {
  if (!isIsoTime(value)) throw new UnreadableMember("a member is not a time");
  return Date.parse(value);
};

const toInstantOrNull = (value: unknown): number | null => (value === null || value === undefined ? null : requireInstant(value));

const requireChoice = <const C extends string>(value: unknown, choices: readonly C[]): C => {
  const choice = choices.find((candidate) => candidate === value);
  if (choice === undefined) throw new UnreadableMember("a member has an unknown value");
  return choice;
};

const listObjects = (value: unknown): readonly JsonObject[] =>
  (Array.isArray(value) ? value : []).map((item) => {
    const object = asObject(item);
    if (object === null) throw new UnreadableMember("a list holds something else than objects");
    return object;
  });

const readMasked = (certificate: JsonObject): Record<string, string> =>
  Object.fromEntries(Object.entries(asObject(certificate.subject) ?? {}).map(([key, value]) => [key, requireText(value)]));

const readNotes = ({
  fields_unrecognized: keys,
  fields_truncated: isTruncated,
  text_replaced: isReplaced,
}: JsonObject): SubmissionNotes => ({
  ...(keys !== undefined && { fields_unrecognized: requireTexts(keys) }),
  ...(isTruncated === true && { fields_truncated: true }),
  ...(isReplaced === true && { text_replaced: true }),
});

const readAnswers = (certificate: JsonObject): PageCertificate["answered"] =>
  certificate.entities_accepted === undefined
    ? null
    : { accepted: requireTexts(certificate.entities_accepted), rejected: requireTexts(certificate.entities_rejected) };

const readPolicies = (certificate: JsonObject): PageCertificate["policies"] =>
  listObjects(certificate.policies).map((policy) => ({
    kind: requireChoice(policy.kind, ["privacy", "terms"]),
    sourceUrl: requireText(policy.source_url),
    contentHash: requireText(policy.content_hash),
    capturedAt: requireInstant(policy.captured_at),
  }));

const readWithdrawnEntities = (certificate: JsonObject): PageCertificate["entitiesWithdrawn"] =>
  listObjects(certificate.entities_withdrawn).map((entity) => ({
    entity: requireText(entity.entity),
    number: Number(/=([0-9]+)$/.exec(requireText(entity.receipt_url))?.[1] ?? 0),
    withdrawnAt: requireInstant(entity.withdrawn_at),
    ceaseBy: requireInstant(entity.cease_by),
    acknowledgedAt: toInstantOrNull(entity.cease_acknowledged_at),
  }));

const readCertificate = (certificate: JsonObject, capturedVia: CaptureMethod): PageCertificate => ({
  id: requireText(certificate.cert_id) as PageCertificate["id"],
  businessName: requireText(certificate.business_name),
  environment: requireChoice(certificate.environment, ["live", "sandbox"]),
  status: requireChoice(certificate.status, ["active", "revoked"]),
  purpose: requireText(certificate.purpose),
  disclosureText: requireText(certificate.disclosure_text),
  disclosureHash: requireText(certificate.disclosure_hash),
  entities: requireTexts(certificate.entities),
  answered: readAnswers(certificate),
  originDomain: requireText(certificate.origin_domain),
  issuedAt: requireInstant(certificate.issued_at),
  fingerprint: requireText(certificate.fingerprint),
  subjectMasked: readMasked(certificate),
  subjectErasedAt: toInstantOrNull(certificate.subject_erased_at),
  notes: readNotes(certificate),
  gpc: asObject(certificate.signals)?.gpc === true,
  capturedVia,
  viewCount: Number(certificate.view_count),
  policiesCaptured: certificate.policies_status !== "pending",
  signature: { kid: requireText(asObject(certificate.signature)?.kid) },
  policies: readPolicies(certificate),
  entitiesWithdrawn: readWithdrawnEntities(certificate),
});

const readIdentity = (certificate: JsonObject): ArticleParts["identity"] => {
  const identity = asObject(certificate.identity);
  return {
    legalName: asString(identity?.legal_name),
    mailingAddress: asString(identity?.mailing_address),
    contact: asString(identity?.contact),
  };
};

const readAnchors = (files: PackFiles): ArticleParts["anchors"] =>
  (["issued", "revoked"] as const).map((event) => {
    const receipt = asObject(parseCanonical(decodeText(files.get(`anchors/${event}/receipt.json`))));
    return { event, receipt: receipt === null ? null : { tx_ref: requireText(receipt.tx_ref) } };
  });

const readDisclosed = (files: PackFiles): DisclosedFields => {
  const list = parseCanonical(decodeText(files.get("subject/disclosures.json")));
  return (Array.isArray(list) ? list : []).map((item) => {
    const [, key = "", value = ""] = requireTexts(item);
    return [key, value];
  });
};

/**
 * The page lists the person's details in the order of the form. In the other files, they are sorted, so the order is taken from the page.
 */
const inOrderOfPage = <T>(fields: readonly (readonly [string, T])[], page: string): readonly (readonly [string, T])[] => {
  const placed = fields.map((field) => ({ field, at: page.indexOf(html`<dt>${field[0]}</dt>`.text) }));
  return placed.sort((a, b) => a.at - b.at).map(({ field }) => field);
};

/**
 * Returns the capture methods that the page may show: the method in the evidence or, if the pack has no evidence, the method in the audit
 * log. If neither is in the pack, both methods are possible.
 */
const listCaptureMethods = ({ certificate, loggedCaptureMethod }: PageSource): readonly CaptureMethod[] => {
  const bound = asObject(certificate.evidence)?.captured_via ?? loggedCaptureMethod;
  return (["browser", "server"] as const).filter((method) => bound === undefined || bound === method);
};

/** Renders the expected page once for each possible capture method. Returns null if the certificate cannot be rendered. */
export const renderPackedPages = (source: PageSource): readonly string[] | null => {
  const { files, certificate, redacted } = source;
  const page = decodeText(files.get("certificate.html")) ?? "";
  try {
    return listCaptureMethods(source).map((method) => {
      const read = readCertificate(certificate, method);
      if (!isSha256Hex(read.fingerprint)) throw new UnreadableMember("the fingerprint is not a hash");
      const parts: ArticleParts = {
        opened: {
          certificate: { ...read, subjectMasked: Object.fromEntries(inOrderOfPage(Object.entries(read.subjectMasked), page)) },
          subject: files.has("subject/commitments.json") ? {} : null,
          evidence: asObject(certificate.evidence),
          evidenceHash: requireText(certificate.evidence_hash),
        },
        publicView: certificate,
        identity: readIdentity(certificate),
        anchors: readAnchors(files),
        isRedacted: redacted.includes("evidence"),
      };
      return renderCertificatePage(parts, inOrderOfPage(readDisclosed(files), page));
    });
  } catch {
    return null; // a hostile certificate can also make the renderer throw
  }
};

/** Compares certificate.html with the page that this certificate should have. Returns null if they are the same. */
export const findPageFault = (source: PageSource): string | null => {
  const pages = renderPackedPages(source);
  if (pages === null) return "certificate.json has a member that no page can show";
  const shown = decodeText(source.files.get("certificate.html"));
  return shown !== null && pages.includes(shown) ? null : "certificate.html does not show what the certificate says";
};
