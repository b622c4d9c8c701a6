// Test data for evidence: a certificate with its proofs, built in memory by the real code with a ledger, an audit log, a witness and a
// timestamp authority. The independent log in test/support hashes the trees.
import { hashAuditPayload } from "../../../core/audit/payload.ts";
import { createGenesisHead, createNextEntry, type AuditEntry } from "../../../core/audit/chain.ts";
import { serializeHeadLeaf, serializeHeadsRecord } from "../../../core/audit/heads.ts";
import { getCeaseDeadline } from "../../../core/cease-deadline.ts";
import { toBase64, toBase64Url, fromBase64, fromHex, toHex, encodeUtf8 } from "../../../core/bytes.ts";
import { toCanonicalJson, type Json, type JsonObject } from "../../../core/canonical-json.ts";
import type {
  EvidenceParts,
  PackedEntityWithdrawal,
  PackedAnchor,
  PackedAudit,
  PackedStatement,
} from "../../../core/certificates/evidence-parts.ts";
import { buildPolicyLinkedPayload } from "../../../core/policies/snapshot.ts";
import { issueCertificate } from "../../../core/certificates/issue.ts";
import type { OpenedCertificate } from "../../../core/certificates/published-certificate.ts";
import { parseSubmission } from "../../../core/certificates/submission.ts";
import { maskSubject } from "../../../core/certificates/subject.ts";
import { toPublicView } from "../../../core/certificates/public-json.ts";
import { sha256, sha256Hex } from "../../../core/hash.ts";
import { firstShard, type BusinessId, type CertId, type ClientId } from "../../../core/ids.ts";
import { formatCheckpoint } from "../../../core/ledger/checkpoint.ts";
import { createCosignatureLine, keyKinds, signNote, formatVkey, type NoteSigner } from "../../../core/ledger/note.ts";
import { formatReceiptProof, type Receipt } from "../../../core/ledger/receipt.ts";
import { formatAnchorStatement } from "../../../core/ledger/statement.ts";
import { formatTlogProof } from "../../../core/ledger/tlog-proof.ts";
import { decideEntityWithdrawal } from "../../../core/withdrawals/entity-withdrawal.ts";
import { sourceFromPerson } from "../../../core/withdrawals/withdrawal.ts";
import { dayMs, toIso } from "../../../core/time.ts";
import { openNoteSigner } from "../../../storage/note-keys.ts";
import { openSigner } from "../../../storage/signer.ts";
import { computeNaiveInclusion, computeNaiveLeaf, computeNaiveRoot } from "../../support/naive-log.ts";
import { createSecret } from "../../support/note-keys.ts";
import stamped from "./time-stamp.json" with { type: "json" };

export const ledgerOrigin = "ledger.example/ledger/2026h2";
export const auditOrigin = "svc.example/audit/0";
export const ledgerSigner = await openNoteSigner(await createSecret(ledgerOrigin, 21));
export const auditSigner = await openNoteSigner(await createSecret(auditOrigin, 7));
export const witness = await openNoteSigner(await createSecret("witness.example/w1", 9, keyKinds.witness));
export const issuer = await openSigner(new Uint8Array(32).fill(33), []);
export const stranger = await openSigner(new Uint8Array(32).fill(34), []);

const validFrom = "2026-01-01T00:00:00.000Z";

export const trustDocument: JsonObject = {
  version: 1,
  logs: [
    { origin: ledgerOrigin, vkey: formatVkey(ledgerSigner.key), valid_from: validFrom, valid_to: null, role: "primary" },
    { origin: auditOrigin, vkey: formatVkey(auditSigner.key), valid_from: validFrom, valid_to: null, role: "audit" },
  ],
  witnesses: [formatVkey(witness.key)],
  policy: { witness_min: 1 },
  tsa: [{ name: stamped.name, spki_sha256: stamped.spki_sha256, pem: stamped.pem }],
  issuer_keys: { keys: issuer.publicKeys.map((key) => ({ ...key })) },
};

/** The trust document without witnesses and timestamp authorities. */
export const plainTrust: JsonObject = { ...trustDocument, witnesses: [], policy: { witness_min: 0 }, tsa: [] };

const computeTimes = ({ isRecent = false }: EvidenceOptions) => {
  const shift = isRecent ? 269 * dayMs : 0;
  const withdrawnAt = Date.parse("2026-04-05T06:07:08.009Z") + shift;
  return {
    issuedAt: Date.parse("2026-03-04T05:06:07.089Z") + shift,
    withdrawnAt,
    partlyWithdrawnAt: withdrawnAt - 60_000,
    ceasedInPartAt: withdrawnAt - 30_000,
    acknowledgedAt: withdrawnAt + 30_000,
    erasedAt: withdrawnAt + 60_000,
    submittedAt: Date.parse("2026-04-05T06:07:09.000Z") + shift,
    verifiedAt: Date.parse("2026-04-05T06:07:09.412Z") + shift,
    recordedAt: Date.parse("2026-04-05T06:15:00.000Z") + shift,
    createdAt: Date.parse("2026-11-20T12:00:00.000Z") + shift,
  };
};

const certId = "cc_009w4k2m7q1x8z3v5t6r0nabcd" as CertId;
const businessId = "biz_0001hzy3v7k2m7q1x8z3v5t6r0" as BusinessId;
const clientId = "pc_live_0001hzy3v7k2m7q1x8z3v5t6r0" as ClientId;
const chain = { tag: "00112233445566778899aabbccddeeff", auditLog: firstShard };
const chainIndex = 3;

const disclosureText =
  'By clicking "Submit" I agree that Acme Solar LLC may call me.\r\n</script><!-- Consent is not a condition of purchase. 😀';
const privacyText = "Privacy policy of Acme Solar LLC.\nWe keep what you send us.\n";
const termsText = "Terms of Acme Solar LLC.\n";

const getPolicyTexts = ({ isAnother = false }: EvidenceOptions) =>
  isAnother ? { privacy: "We sell what you send us.\n", terms: "Other terms.\n" } : { privacy: privacyText, terms: termsText };

const buildPolicySnapshots = (options: EvidenceOptions) => {
  const texts = getPolicyTexts(options);
  const createSnapshot = (kind: "privacy" | "terms") => ({
    id: `pol_${kind}`,
    sourceUrl: `https://www.acme-solar.example/${kind}`,
    contentHash: sha256Hex(texts[kind]),
    capturedAt: computeTimes(options).issuedAt + 8_000,
  });
  return { privacy: createSnapshot("privacy"), terms: createSnapshot("terms") };
};

export interface EvidenceOptions {
  /** True if every event is later than the last change of the pack format. */
  readonly isRecent?: boolean;
  /** True if the payloads lack the members that later versions of the format bind. */
  readonly isOlderFormat?: boolean;
  /** True if the person withdrew consent after the issuance. */
  readonly isRevoked?: boolean;
  /** Recipients for whom the person withdrew consent individually, all at the same time and before any other withdrawal. */
  readonly withdrawnFrom?: readonly string[];
  /** True if the business reported that these recipients have ceased contact. */
  readonly isCeasedInPart?: boolean;
  /** How far anchoring in the ledger has progressed. */
  readonly anchors?: "none" | "pending" | "anchored" | "attested";
  /** How far the audit log has progressed. */
  readonly audit?: "none" | "entries" | "heads";
  readonly redacted?: boolean;
  readonly disclose?: readonly string[] | null;
  readonly isErased?: boolean;
  /** True if this issuance is the business's first audit entry. */
  readonly isFirstEntry?: boolean;
  /** True if the business acknowledged the withdrawal. */
  readonly isAcknowledged?: boolean;
  /** True for another person's certificate, with another ID, disclosure and policies. */
  readonly isAnother?: boolean;
  readonly entities?: readonly string[];
  /** True if the form had a country that does not exist, characters that cannot be stored, and more fields than a certificate can hold. */
  readonly isOddForm?: boolean;
  readonly accepted?: readonly string[] | undefined;
  readonly purpose?: string;
  readonly trust?: JsonObject;
  readonly createdAt?: number;
  /** False content to put in the audit log. It is then hashed, proven and signed correctly. */
  readonly lies?: {
    readonly issuance?: JsonObject;
    readonly revocation?: JsonObject;
    /** Members to replace in the leaf for this chain in the tree of chain heads. */
    readonly leaf?: { readonly chain?: string; readonly seq?: string; readonly head?: string };
    readonly logSize?: string;
    /**
     * With `reversed`, the log contains the entries newest first. With `after the record`, the log contains the entries after the record of
     * heads.
     */
    readonly order?: "reversed" | "after the record";
  };
}

const expectOk = <T extends { readonly ok: boolean }>(result: T): Extract<T, { readonly ok: true }> => {
  if (!result.ok) throw new Error(`the world does not hold together: ${JSON.stringify(result)}`);
  return result as Extract<T, { readonly ok: true }>;
};

const getCertId = (options: EvidenceOptions): CertId => (options.isAnother ? ("cc_00another7q1x8z3v5t6r0nabcd" as CertId) : certId);

const sealCertificate = (options: EvidenceOptions) => {
  const { accepted } = options;
  const { issuedAt } = computeTimes(options);
  const entities = options.entities ?? ["Acme Solar LLC", "Bright Homes Inc", "€ Euro SA", "😀 <Emoji> & Co"];
  const submission = {
    fields: {
      email: options.isAnother ? "sam@example.net" : "pat@example.com",
      first_name: "Pat",
      phone: "+15555550123",
      ...(options.isOddForm && { country: "UK", message: "half an emoji \ud83d" }),
    },
    isTruncated: options.isOddForm === true,
    disclosureText: `${options.isAnother ? "Another form. " : ""}${disclosureText}`,
    entities,
    entitiesAccepted: accepted,
    entitiesRejected: accepted === undefined ? undefined : entities.filter((name) => !accepted.includes(name)),
    purpose: options.purpose ?? "solar quote follow-up",
    pageUrl: "https://www.acme-solar.example/quote?id=7",
    extras: { locale: "en-US", presentation: { opt_in_type: "manual", font_px: 12.5 } },
  };
  const domain = { id: "dom_1", domain: "acme-solar.example", method: "dns" } as const;
  const issued = expectOk(
    issueCertificate({
      business: {
        id: businessId,
        name: "Acme Solar LLC",
        status: "active",
        plan: "enterprise",
        environment: "live",
        domains: [domain],
        chain,
        retentionYears: 5,
        emitsIssued: false,
      },
      clientId,
      submission,
      parsed: expectOk(parseSubmission(submission)).value,
      unrecognized: options.isOddForm ? ["country"] : [],
      originHeader: "https://www.acme-solar.example",
      captureContext: {
        ip: "203.0.113.7",
        userAgent: "Mozilla/5.0 (iPhone)",
        gpc: false,
        capturedVia: "browser",
        geo: { country: "US", region: "CA", city: null },
      },
      rules: { allowsLocalHttp: false, allowsSandboxLocalhost: false },
      now: issuedAt,
      certId: getCertId(options),
      rootSalt: Uint8Array.from({ length: 32 }, (_, at) => (options.isAnother ? 255 - at : at)),
    }),
  );
  return issued.value;
};

export interface World {
  readonly parts: EvidenceParts;
  readonly fingerprint: string;
}

const createFiller = (name: string): Uint8Array => encodeUtf8(`somebody else's ${name}`);

/** Builds a ledger of forty statements. The given statements are at indexes 17, 29 and 23, in this order. All others are filler. */
const buildLedger = (statements: readonly string[], { submittedAt, verifiedAt }: ReturnType<typeof computeTimes>) => {
  const places = [17, 29, 23];
  const entries = Array.from({ length: 40 }, (_, at) => {
    const statement = statements[places.indexOf(at)];
    return statement === undefined ? createFiller(`statement ${at}`) : encodeUtf8(statement);
  });
  const leaves = entries.map(computeNaiveLeaf);
  const noteAt = (size: number, signer: NoteSigner = ledgerSigner): Promise<string> =>
    signNote(formatCheckpoint({ origin: ledgerOrigin, size: BigInt(size), root: computeNaiveRoot(leaves, 0, size) }), [signer]);
  const createReceipt = async (which: number): Promise<Receipt> => {
    const index = places[which] as number;
    const size = index + 3;
    return {
      v: 1,
      ledger: `tlog:${ledgerOrigin}`,
      kind: "tlog",
      tx_ref: `${ledgerOrigin}#${index}`,
      entry_hash: toHex(sha256(entries[index] as Uint8Array)),
      leaf_index: String(index),
      leaf_hash: toBase64(leaves[index] as Uint8Array),
      inclusion_proof: computeNaiveInclusion(index, leaves.slice(0, size)).map(toBase64),
      signed_root: await noteAt(size),
      tree_size: String(size),
      root_hash: toBase64(computeNaiveRoot(leaves, 0, size)),
      submitted_at: toIso(submittedAt),
      verified_at: toIso(verifiedAt),
    };
  };
  return {
    noteAt,
    receiptOf: createReceipt,
    places,
    proofAt: (which: number) => computeNaiveInclusion(places[which] as number, leaves).map(toBase64),
  };
};

const oneByOne = ["Bright Homes Inc"];

/** Builds the withdrawal for individual recipients in the same way as core/withdrawals. */
const decideWithdrawal = (options: EvidenceOptions, fingerprint: string) =>
  decideEntityWithdrawal({
    certificate: {
      id: getCertId(options),
      businessId,
      businessName: "Acme Solar LLC",
      environment: "live",
      status: "active",
      originDomain: "www.acme-solar.example",
      issuedAt: computeTimes(options).issuedAt,
      fingerprint,
      chain,
    },
    change: sourceFromPerson("email_code"),
    number: 1,
    entities: options.withdrawnFrom ?? oneByOne,
    emitsEvent: false,
    now: computeTimes(options).partlyWithdrawnAt,
  });

/**
 * Builds the ledger with all three statements even if consent was not withdrawn, so that the checkpoint and the recorded timestamp are the
 * same with and without a withdrawal.
 */
const buildAttestedLedger = (options: EvidenceOptions, fingerprint: string) => {
  const times = computeTimes(options);
  const anchor = { entityId: getCertId(options), fingerprint, originDomain: "www.acme-solar.example" };
  const receiptHash = sha256Hex(decideWithdrawal(options, fingerprint).receipt);
  const statements = [
    formatAnchorStatement({ event: "certificate.issued", ...anchor, at: times.issuedAt }),
    formatAnchorStatement({ event: "certificate.revoked", ...anchor, at: times.withdrawnAt }),
    formatAnchorStatement({ event: "certificate.entities_withdrawn", ...anchor, at: times.partlyWithdrawnAt, receiptHash }),
  ];
  return { statements, ledger: buildLedger(statements, times) };
};

/** Returns the checkpoint that the recorded timestamp covers. Use it to record a new timestamp. */
export const noteToStamp = (): Promise<string> => buildAttestedLedger({}, sealCertificate({}).certificate.fingerprint).ledger.noteAt(40);

interface Anchored {
  readonly anchors: readonly PackedAnchor[];
  readonly acts: readonly PackedEntityWithdrawal[];
}

const buildAnchors = async (options: EvidenceOptions, fingerprint: string): Promise<Anchored> => {
  const reach = options.anchors ?? "attested";
  if (reach === "none") return { anchors: [], acts: [] };
  const { statements, ledger } = buildAttestedLedger(options, fingerprint);
  const note = await ledger.noteAt(40);
  const cosignature = await createCosignatureLine(note.slice(0, note.indexOf("\n\n") + 1), witness, 1_775_369_703n);
  const isStamped = stamped.note_sha256 === sha256Hex(note);
  const packStatement = async (which: number): Promise<PackedStatement> => ({
    statement: statements[which] as string,
    receipt: reach === "pending" ? null : await ledger.receiptOf(which),
    attested:
      reach === "attested"
        ? {
            note,
            inclusionProof: ledger.proofAt(which),
            cosignatures: [cosignature],
            tsr: isStamped ? fromBase64(stamped.token) : null,
          }
        : null,
  });
  const { receipt } = decideWithdrawal(options, fingerprint);
  const signature = { kid: issuer.kid, alg: "Ed25519" as const, value: await issuer.sign(receipt) };
  return {
    anchors: [
      { event: "issued", ...(await packStatement(0)) },
      ...(options.isRevoked ? [{ event: "revoked" as const, ...(await packStatement(1)) }] : []),
    ],
    acts: options.withdrawnFrom ? [{ number: 1, receipt, signature, anchor: await packStatement(2) }] : [],
  };
};

/** Returns a 128-bit salt, different for each entry. */
const computeSalt = (id: CertId, at: number): string => toBase64Url(sha256(`salt ${id} ${at}`).subarray(0, 16));

/** Returns what the withdrawal's entry commits to, as core/withdrawals/withdrawal.ts builds it. */
const buildRevocation = (fingerprint: string, withdrawnAt: number, isOlderFormat = false): JsonObject => ({
  actor: "subject",
  fingerprint,
  method: "email_code",
  scope: "certificate",
  ...(!isOlderFormat && { received_at: null }),
  cease_by: new Date(getCeaseDeadline(withdrawnAt)).toISOString(),
});

const buildAudit = async (options: EvidenceOptions, fingerprint: string, issuance: JsonObject): Promise<PackedAudit | null> => {
  if (options.audit === "none") return null;
  const { issuedAt, withdrawnAt, partlyWithdrawnAt, ceasedInPartAt, acknowledgedAt, erasedAt, recordedAt } = computeTimes(options);
  const linkedPolicies = buildPolicyLinkedPayload({ id: "cap_1", policies: buildPolicySnapshots(options) });
  const { sources: _, ...linkedHashes } = linkedPolicies; // the payload as it was logged before the format bound the policies' sources
  const createEntry = (type: string, at: number, payload: JsonObject) => ({
    type,
    entity: getCertId(options) as string,
    kind: "certificate",
    at,
    payload,
  });
  const createOtherEntry = (type: string, at: number) => ({
    type,
    entity: "key_else",
    kind: "api_key",
    at,
    payload: { actor: "owner" } as JsonObject,
  });
  const events = [
    ...(options.isFirstEntry ? [] : [createOtherEntry("api_key.created", issuedAt - 5_000)]),
    createEntry("certificate.issued", issuedAt, options.lies?.issuance ?? issuance),
    createEntry("policy.linked", issuedAt + 9_000, {
      actor: "service",
      ...(options.isOlderFormat ? linkedHashes : linkedPolicies),
    }),
    createOtherEntry("api_key.created", issuedAt + 60_000),
    createEntry("certificate.subject_read", issuedAt + 90_000, { actor: "api_key:key_1" }),
    ...(options.withdrawnFrom
      ? [
          createEntry("certificate.entities_withdrawn", partlyWithdrawnAt, {
            actor: "subject",
            fingerprint,
            method: "email_code",
            entities: options.withdrawnFrom as string[],
            ...(!options.isOlderFormat && { received_at: null }),
            cease_by: getCeaseDeadline(partlyWithdrawnAt),
          }),
        ]
      : []),
    ...(options.isCeasedInPart
      ? [
          createEntry("business.entities_ceased", ceasedInPartAt, {
            actor: "owner",
            fingerprint,
            entities: options.withdrawnFrom as string[],
            on_time: true,
          }),
        ]
      : []),
    ...(options.isRevoked
      ? [
          createEntry("certificate.revoked", withdrawnAt, {
            ...buildRevocation(fingerprint, withdrawnAt, options.isOlderFormat),
            ...options.lies?.revocation,
          }),
        ]
      : []),
    ...(options.isAcknowledged ? [createEntry("business.ceased", acknowledgedAt, { actor: "owner", fingerprint })] : []),
    ...(options.isErased ? [createEntry("certificate.subject_erased", erasedAt, { actor: "owner" })] : []),
  ];
  let head = createGenesisHead({ chain: chain.tag, chainIndex: BigInt(chainIndex) });
  const entries: { entry: AuditEntry; hash: string; payload: JsonObject; salt: string }[] = [];
  for (const [at, event] of events.entries()) {
    const salt = computeSalt(getCertId(options), at);
    const next = createNextEntry(chain.tag, head, {
      type: event.type,
      entity_type: event.kind,
      entity_id: event.entity,
      at: new Date(event.at).toISOString(),
      payload_hash: hashAuditPayload(salt, event.payload),
    });
    head = next.head;
    entries.push({ entry: next.entry, hash: head.hash, payload: event.payload, salt });
  }
  const { lies = {} } = options;
  const ownLeaf = toCanonicalJson({ chain: chain.tag, head: head.hash, seq: head.seq.toString(), ...lies.leaf });
  const heads = Array.from({ length: 9 }, (_, at) =>
    at === chainIndex ? ownLeaf : serializeHeadLeaf(sha256Hex(`chain ${at}`).slice(0, 32), { seq: 1n, hash: sha256Hex(`${at}`) }),
  );
  const headLeaves = heads.map((text) => computeNaiveLeaf(encodeUtf8(text)));
  const ordered = lies.order === "reversed" ? entries.toReversed() : entries;
  const entryLeaves = ordered.flatMap(({ hash }, at) => [
    computeNaiveLeaf(sha256(`other ${at}`)),
    computeNaiveLeaf(fromHex(hash) as Uint8Array),
  ]);
  const before = lies.order === "after the record" ? [computeNaiveLeaf(sha256("else"))] : entryLeaves;
  const record = serializeHeadsRecord({
    at: toIso(recordedAt),
    heads_root: toHex(computeNaiveRoot(headLeaves)),
    heads_size: String(heads.length),
    log_size: lies.logSize ?? String(before.length),
    schema: "svc-heads-v1",
  });
  const recordIndex = before.length;
  const leaves = [...before, computeNaiveLeaf(sha256(record)), ...(lies.order === "after the record" ? entryLeaves : [])];
  const checkpoint = await signNote(
    formatCheckpoint({ origin: auditOrigin, size: BigInt(leaves.length), root: computeNaiveRoot(leaves) }),
    [auditSigner],
  );
  const formatProofAt = (index: number): string =>
    formatTlogProof({ index: BigInt(index), hashes: computeNaiveInclusion(index, leaves), checkpoint });
  const placeOf = (hash: string): number => leaves.map(toHex).indexOf(toHex(computeNaiveLeaf(fromHex(hash) as Uint8Array)));
  const shown = entries.map((one) => ({ ...one, place: placeOf(one.hash) })).filter(({ entry }) => entry.entity_id === getCertId(options));
  return {
    chainIndex,
    head: { seq: head.seq.toString(), hash: head.hash },
    entries: shown.map(({ entry }) => entry),
    payloads: new Map(shown.map(({ entry, payload, salt }) => [entry.seq, { payload, salt }])),
    proofs: new Map(shown.map(({ entry, place }) => [entry.seq, formatProofAt(place)])),
    heads:
      options.audit === "entries"
        ? null
        : {
            record,
            record_tlog_proof: formatProofAt(recordIndex),
            leaf: heads[chainIndex] as string,
            path: computeNaiveInclusion(chainIndex, headLeaves).map(toBase64),
            size: String(heads.length),
          },
  };
};

/** Returns the anchor as the service publishes it. */
const buildPublishedAnchor = (anchor: PackedAnchor | undefined): JsonObject | null => {
  if (anchor === undefined) return null;
  const { statement, receipt, attested } = anchor;
  const common = {
    event: `certificate.${anchor.event}`,
    entry_hash: sha256Hex(statement),
    statement,
    ledger: `tlog:${ledgerOrigin}`,
  };
  if (receipt === null) return { status: "pending", ...common };
  return {
    status: "anchored",
    ...common,
    tx_ref: receipt.tx_ref,
    leaf_index: receipt.leaf_index,
    tree_size: receipt.tree_size,
    inclusion_proof: receipt.inclusion_proof,
    signed_root: receipt.signed_root,
    anchored_at: receipt.verified_at,
    anchored_at_source: "service",
    tlog_proof: formatReceiptProof(receipt),
    ...(attested !== null && {
      attested: {
        tree_size: "40",
        signed_root: attested.note + attested.cosignatures.join(""),
        inclusion_proof: attested.inclusionProof,
        time: null,
        time_source: "rfc3161",
        attestations: attested.tsr === null ? [] : [{ kind: "rfc3161", tsa: stamped.name, time: null, token: toBase64(attested.tsr) }],
      },
    }),
  };
};

export const buildWorld = async (options: EvidenceOptions = {}): Promise<World> => {
  const { certificate, domainEvent } = sealCertificate(options);
  const { issuedAt, withdrawnAt, partlyWithdrawnAt, ceasedInPartAt, acknowledgedAt, erasedAt, createdAt } = computeTimes(options);
  const texts = getPolicyTexts(options);
  const { anchors, acts } = await buildAnchors(options, certificate.fingerprint);
  const createPolicy = (kind: "privacy" | "terms") => ({ kind, ...buildPolicySnapshots(options)[kind] });
  const opened: OpenedCertificate = {
    certificate: {
      id: certificate.id,
      businessId: certificate.business.id,
      businessName: certificate.business.name,
      environment: certificate.environment,
      status: options.isRevoked ? "revoked" : "active",
      purpose: certificate.purpose,
      disclosureText: certificate.disclosureText,
      disclosureHash: certificate.disclosureHash,
      entities: certificate.recipients.entities,
      answered: certificate.recipients.answered ?? null,
      originDomain: certificate.originDomain,
      issuedAt,
      fingerprint: certificate.fingerprint,
      subjectHash: certificate.subjectHash,
      subjectMasked: options.isErased && options.isRecent ? {} : maskSubject(certificate.fields, certificate.notes.fields_unrecognized),
      notes: certificate.notes,
      subjectErasedAt: options.isErased ? erasedAt : null,
      gpc: false,
      capturedVia: "browser",
      signature: { kid: issuer.kid, alg: "Ed25519", value: await issuer.sign(certificate.canonical) },
      viewCount: 2,
      policiesCaptured: true,
      policies: [createPolicy("privacy"), createPolicy("terms")],
      anchor: null,
      withdrawal: null,
      entitiesWithdrawn: (options.withdrawnFrom ?? []).map((entity) => ({
        entity,
        number: 1,
        withdrawnAt: partlyWithdrawnAt,
        ceaseBy: getCeaseDeadline(partlyWithdrawnAt),
        method: "email_code",
        receivedAt: null,
        acknowledgedAt: options.isCeasedInPart ? ceasedInPartAt : null,
        acknowledgement: options.isCeasedInPart ? 1 : null,
      })),
    },
    subject: options.isErased ? null : { fields: certificate.fields, rootSalt: certificate.rootSalt },
    evidence: certificate.evidence,
    evidenceHash: certificate.evidenceHash,
    retentionUntil: certificate.retentionUntil,
    chain,
    issuedEntry: null,
    withdrawal: null,
    entitiesWithdrawn: (options.withdrawnFrom ?? []).map(() => ({ recorded: null, acknowledgement: null })),
  };
  const withdrawal = {
    withdrawn_at: new Date(withdrawnAt).toISOString(),
    cease_by: new Date(getCeaseDeadline(withdrawnAt)).toISOString(),
    method: "email_code",
    scope: "certificate",
    received_at: null,
    cease_acknowledged_at: options.isAcknowledged ? new Date(acknowledgedAt).toISOString() : null,
    overdue: !options.isAcknowledged && createdAt > getCeaseDeadline(withdrawnAt),
    anchor: buildPublishedAnchor(anchors[1]),
  };
  const view: JsonObject = {
    ...toPublicView(opened.certificate, { verifyBase: "https://svc.example", apiBase: "https://svc.example/v1", now: createdAt }),
    anchor: buildPublishedAnchor(anchors[0]),
    withdrawal: options.isRevoked ? (withdrawal as unknown as Json) : null,
    cease_by: options.isRevoked ? withdrawal.cease_by : null,
  };
  const parts: EvidenceParts = {
    createdAt: options.createdAt ?? createdAt,
    opened,
    publicView: view,
    views: [
      { at: issuedAt + 70_000, ip: "198.51.100.23", userAgent: "Mozilla/5.0 (Windows NT 10.0)", os: "Windows", bot: false },
      { at: issuedAt + 80_000, ip: "198.51.100.23", userAgent: "curl/8", os: null, bot: true },
    ],
    policyTexts: new Map([texts.privacy, texts.terms].map((text) => [sha256Hex(text), text])),
    identity: { legalName: "Acme Solar LLC", mailingAddress: "1 Sun St\nTestville, CA", contact: "privacy@acme-solar.example" },
    anchors,
    entityWithdrawals: acts,
    audit: await buildAudit(options, certificate.fingerprint, domainEvent.payload),
    trust: options.trust ?? trustDocument,
    issuer: { keyName: "svc.example/issuer", x: issuer.publicKeys[0]?.x ?? "", sign: issuer.sign },
    disclosedKeys: options.disclose === undefined || options.disclose === null ? null : new Set(options.disclose),
    isRedacted: options.redacted ?? false,
  };
  return { parts, fingerprint: certificate.fingerprint };
};
