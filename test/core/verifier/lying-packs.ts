// Derives false packs from honest packs. The same seed always gives the same false pack. Each pack contains one lie: a statement that
// contradicts something logged, hashed or signed, or evidence that was dropped, swapped or moved. Some packs also cover up the lie by
// adapting other evidence. Every pack is then signed again.
import { serializeAuditEntry, type AuditEntry } from "../../../core/audit/chain.ts";
import type { Json, JsonObject } from "../../../core/canonical-json.ts";
import { toCanonicalJson } from "../../../core/canonical-json.ts";
import { buildPackFiles } from "../../../core/certificates/evidence-pack.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { issuer, buildWorld, type EvidenceOptions } from "./evidence.ts";
import { readJson, createRandom, resignFiles, setJson, setText, readText, withFittingPage, zipFiles, type Files } from "./repack.ts";

type Pack = ReadonlyMap<string, Uint8Array>;
type Next = (below: number) => number;

interface HonestPack {
  readonly name: string;
  readonly files: Pack;
  /** A pack of the same kind for another certificate. */
  readonly donor: Pack;
}

const recipients = ["Bright Homes Inc", "€ Euro SA"];
const situations: Readonly<Record<string, EvidenceOptions>> = {
  active: {},
  redacted: { redacted: true },
  "odd form": { isOddForm: true },
  "odd form, redacted, erased": { isOddForm: true, redacted: true, isErased: true },
  answered: { accepted: ["Acme Solar LLC", "Bright Homes Inc", "€ Euro SA"], withdrawnFrom: recipients },
  withdrawn: { isRevoked: true, isAcknowledged: true },
  "withdrawn from recipients": { withdrawnFrom: recipients, isCeasedInPart: true },
  "withdrawn from recipients, then altogether": { withdrawnFrom: recipients, isRevoked: true },
  erased: { isErased: true },
  "erased, withdrawn": { isErased: true, isRevoked: true, isAcknowledged: true },
  "erased, withdrawn from recipients": { isErased: true, withdrawnFrom: recipients, isCeasedInPart: true },
  "erased, redacted, withdrawn": { isErased: true, redacted: true, isRevoked: true, isAcknowledged: true },
};

/** Builds a pack. As in the service, an erased certificate has no evidence and no masked details. */
const buildPack = async (options: EvidenceOptions): Promise<Pack> => {
  const { parts } = await buildWorld({ ...options, isRecent: true, anchors: "anchored" });
  const { opened, publicView } = parts;
  if (!options.isErased) return buildPackFiles(parts);
  const certificate = { ...opened.certificate, subjectMasked: {} };
  return buildPackFiles({ ...parts, opened: { ...opened, certificate, evidence: null }, publicView: { ...publicView, subject: {} } });
};

export const buildHonestPacks = (): Promise<readonly HonestPack[]> =>
  Promise.all(
    Object.entries(situations).map(async ([name, wanted]) => ({
      name,
      files: await buildPack(wanted),
      donor: await buildPack({ ...wanted, isAnother: true }),
    })),
  );

const readCertificate = (files: Pack): JsonObject => readJson(files, "certificate.json");
const listIn = (files: Pack, name: string): readonly JsonObject[] => (readCertificate(files)[name] ?? []) as JsonObject[];
const setMembers = (files: Files, members: JsonObject): void =>
  setJson(files, "certificate.json", { ...readCertificate(files), ...members });
const setWithdrawal = (files: Files, members: JsonObject): void =>
  setMembers(files, { withdrawal: { ...(readCertificate(files).withdrawal as JsonObject), ...members } });
const setItem = (files: Files, name: string, at: number, members: JsonObject): void =>
  setMembers(files, { [name]: listIn(files, name).map((item, index) => (index === at ? { ...item, ...members } : item)) });

const readEntries = (files: Pack): readonly AuditEntry[] =>
  readText(files, "audit/entries.jsonl")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as AuditEntry);
const setEntries = (files: Files, entries: readonly AuditEntry[]): void =>
  setText(files, "audit/entries.jsonl", entries.map((entry) => `${serializeAuditEntry(entry)}\n`).join(""));
const readPayloads = (files: Pack): Readonly<Record<string, Json>> => readJson(files, "audit/payloads.json");
const dropPayloads = (files: Files, seqs: readonly string[]): void =>
  setJson(files, "audit/payloads.json", Object.fromEntries(Object.entries(readPayloads(files)).filter(([seq]) => !seqs.includes(seq))));
const dropEntries = (files: Files, isDropped: (entry: AuditEntry) => boolean): void => {
  const dropped = readEntries(files).filter(isDropped);
  dropPayloads(
    files,
    dropped.map(({ seq }) => seq),
  );
  for (const { seq } of dropped) files.delete(`audit/${seq}.tlog-proof`);
  setEntries(
    files,
    readEntries(files).filter((entry) => !isDropped(entry)),
  );
};
const dropFiles = (files: Files, pattern: RegExp): boolean => {
  const paths = [...files.keys()].filter((path) => pattern.test(path));
  for (const path of paths) files.delete(path);
  return paths.length > 0;
};
const pick = <T>(items: readonly T[], next: Next): T | undefined => items[next(items.length)];

/** Types of audit entries whose content is also on the certificate. A valid pack can omit entries of other types, such as reads. */
const claimedTypes = /^(?:certificate\.(?:issued|revoked|entities_withdrawn|subject_erased)|business\.|policy\.)/;
const listClaimedEntries = (files: Pack): readonly AuditEntry[] => readEntries(files).filter(({ type }) => claimedTypes.test(type));

const shiftTime = (time: unknown, next: Next): string =>
  new Date(Date.parse(String(time)) + (next(2) === 0 ? -1 : 1) * (1 + next(86_400_000))).toISOString();
const isText = (value: unknown): value is string => typeof value === "string";

/** Puts a lie into the files and returns its description, or null if these files cannot contain this kind of lie. */
type Lie = (files: Files, next: Next, donor: Pack) => string | null;

const contradictions: readonly Lie[] = [
  (files) => {
    setMembers(files, { environment: readCertificate(files).environment === "live" ? "sandbox" : "live" });
    return "the other environment";
  },
  (files) => {
    const { gpc } = readCertificate(files).signals as JsonObject;
    setMembers(files, { signals: { gpc: !gpc } });
    return "the other privacy signal";
  },
  (files) => {
    if (readCertificate(files).withdrawal === null) return null;
    setWithdrawal(files, { method: "manage_link" });
    return "another method of withdrawal";
  },
  (files) => {
    if (readCertificate(files).withdrawal === null) return null;
    setWithdrawal(files, { scope: "business" });
    return "another scope of withdrawal";
  },
  (files, next) => {
    const { withdrawal } = readCertificate(files);
    if (withdrawal === null) return null;
    const name = pick(["withdrawn_at", "cease_by"], next) as string;
    setWithdrawal(files, { [name]: shiftTime((withdrawal as JsonObject)[name], next) });
    return `another ${name}`;
  },
  (files, next) => {
    const { withdrawal } = readCertificate(files);
    if (withdrawal === null) return null;
    const receivedAt = new Date(Date.parse(String((withdrawal as JsonObject).withdrawn_at)) - next(3_600_000)).toISOString();
    setWithdrawal(files, { method: "business_recorded", received_at: receivedAt });
    return "a time at which the business received it";
  },
  (files, next) => {
    const { withdrawal } = readCertificate(files);
    if (withdrawal === null) return null;
    setWithdrawal(files, { cease_acknowledged_at: shiftTime((withdrawal as JsonObject).withdrawn_at, next) });
    return "an acknowledgment at another time";
  },
  (files) => {
    if (!isText((readCertificate(files).withdrawal as JsonObject | null)?.cease_acknowledged_at)) return null;
    setWithdrawal(files, { cease_acknowledged_at: null });
    return "no acknowledgment";
  },
  (files) => {
    if (readCertificate(files).status === "active") return null;
    setMembers(files, { status: "active", withdrawal: null, cease_by: null });
    dropFiles(files, /^anchors\/revoked\//);
    return "no withdrawal";
  },
  (files, next) => {
    const at = next(2);
    const item = listIn(files, "entities_withdrawn")[at];
    if (item === undefined) return null;
    const name = pick(["withdrawn_at", "cease_by", "cease_acknowledged_at"], next) as string;
    setItem(files, "entities_withdrawn", at, { [name]: shiftTime(item[name] ?? item.withdrawn_at, next) });
    return `another ${name} of recipient ${at}`;
  },
  (files, next) => {
    const at = next(2);
    if (listIn(files, "entities_withdrawn")[at] === undefined) return null;
    const members = pick<JsonObject>(
      [{ method: "manage_link" }, { entity: "Acme Solar LLC" }, { entity: "Nobody Ltd" }],
      next,
    ) as JsonObject;
    setItem(files, "entities_withdrawn", at, members);
    return `recipient ${at} with ${Object.values(members)}`;
  },
  (files, next) => {
    const listed = listIn(files, "entities_withdrawn");
    if (listed.length === 0) return null;
    setMembers(files, { entities_withdrawn: listed.toSpliced(next(2), 1) });
    return "a recipient less";
  },
  (files) => {
    const { entities_withdrawn: listed, ...rest } = readCertificate(files);
    if (listed === undefined) return null;
    setJson(files, "certificate.json", rest);
    dropFiles(files, /^(?:withdrawals|anchors\/withdrawn-1)\//);
    return "no withdrawal from recipients";
  },
  (files, next) => {
    const at = next(2);
    const name = pick(["source_url", "captured_at", "id"], next) as string;
    const before = listIn(files, "policies")[at]?.[name];
    const value = name === "captured_at" ? shiftTime(before, next) : `${String(before)}-2`;
    setItem(files, "policies", at, { [name]: value });
    const index = readJson(files, "policies/index.json") as JsonObject[];
    setJson(
      files,
      "policies/index.json",
      index.map((item, index_) => (index_ === at ? { ...item, [name]: value } : item)),
    );
    return `another ${name} of policy ${at}`;
  },
  (files, next) => {
    const at = next(2);
    const policy = listIn(files, "policies")[at];
    const text = `We may do anything, version ${next(1_000)}.\n`;
    const hash = sha256Hex(text);
    const path = `policies/${policy?.kind}-${hash}.txt`;
    files.delete(`policies/${policy?.kind}-${policy?.content_hash}.txt`);
    setText(files, path, text);
    setItem(files, "policies", at, { content_hash: hash });
    const index = readJson(files, "policies/index.json") as JsonObject[];
    setJson(
      files,
      "policies/index.json",
      index.map((item, index_) => (index_ === at ? { ...item, content_hash: hash, path } : item)),
    );
    return `another text of policy ${at}`;
  },
  (files, next) => {
    const only = next(3);
    const kept = listIn(files, "policies").filter((_, at) => at === only);
    setMembers(files, { policies: kept as JsonObject[], policies_status: pick(["pending", "captured", "unavailable"], next) as string });
    const index = (readJson(files, "policies/index.json") as JsonObject[]).filter(({ kind }) =>
      kept.some((policy) => policy.kind === kind),
    );
    setJson(files, "policies/index.json", index);
    for (const path of [...files.keys()])
      if (path.endsWith(".txt") && path.startsWith("policies/") && !index.some((item) => item.path === path)) files.delete(path);
    return "policies less";
  },
  (files, next) => {
    const { subject_erased_at: at, issued_at: issuedAt } = readCertificate(files);
    setMembers(files, { subject_erased_at: isText(at) && next(2) === 0 ? null : shiftTime(at ?? issuedAt, next) });
    return "another erasure";
  },
  (files, next) => {
    const { evidence } = readCertificate(files);
    if (evidence === null) return null;
    const changed = { ...(evidence as JsonObject), ip: `203.0.113.${8 + next(200)}` };
    setMembers(files, { evidence: changed, evidence_hash: sha256Hex(toCanonicalJson(changed)) });
    return "other evidence";
  },
  (files, next) => {
    setMembers(files, { evidence_hash: sha256Hex(`${next(1_000_000)}`) });
    return "another hash of the evidence";
  },
  (files, next) => {
    const name = pick(
      ["purpose", "origin_domain", "business_name", "disclosure_text", "issued_at", "fingerprint", "subject_hash"],
      next,
    ) as string;
    setMembers(files, {
      [name]: name === "issued_at" ? shiftTime(readCertificate(files)[name], next) : `${String(readCertificate(files)[name])}x`,
    });
    return `another ${name}`;
  },
  (files, next) => {
    const marks = ["Consent", "live", "SHA-256", "Public page", "UTC", "</main>"];
    const mark = marks[next(marks.length)] as string;
    const page = readText(files, "certificate.html");
    if (!page.includes(mark)) return null;
    setText(files, "certificate.html", page.replace(mark, `${mark} <b>and more</b>`));
    return `page: a page with more after ${mark}`;
  },
];

const drops: readonly Lie[] = [
  (files, next) => {
    const entry = pick(listClaimedEntries(files), next) as AuditEntry;
    dropPayloads(files, [entry.seq]);
    return `no payload of ${entry.type}`;
  },
  (files) => {
    setJson(files, "audit/payloads.json", {});
    return "no payloads";
  },
  (files, next) => {
    const entry = pick(listClaimedEntries(files), next) as AuditEntry;
    dropEntries(files, ({ seq }) => seq === entry.seq);
    return `no entry ${entry.type}`;
  },
  (files, next) => {
    const patterns = [
      /^withdrawals\//,
      /^withdrawals\/1\/sig/,
      /^anchors\/withdrawn-1\//,
      /^anchors\/issued\//,
      /^anchors\/revoked\//,
      /^audit\//,
    ];
    const pattern = [...patterns, /^audit\/heads/, /\.tlog-proof$/, /^subject\/c/, /^policies\/.*txt$/, /entry\.tlog-proof$/][
      next(11)
    ] as RegExp;
    return dropFiles(files, pattern) ? `no files ${pattern.source}` : null;
  },
  (files) => {
    if (readCertificate(files).evidence === null) return null;
    setMembers(files, { evidence: null });
    return "no evidence, without saying so";
  },
];

const swaps: readonly Lie[] = [
  (files, next, donor) => {
    const path = pick(
      [...files.keys()].filter((name) => /^(?:audit|anchors|withdrawals|fingerprint|subject)\//.test(name)),
      next,
    ) as string;
    const other = donor.get(path);
    if (other === undefined || toHexText(other) === toHexText(files.get(path) as Uint8Array)) return null;
    files.set(path, other);
    return `${path} of another certificate`;
  },
  (files, next, donor) => {
    const entry = pick(listClaimedEntries(files), next) as AuditEntry;
    const other = readEntries(donor).find(({ type }) => type === entry.type);
    const payload = readPayloads(donor)[other?.seq ?? ""];
    if (payload === undefined) return null;
    setJson(files, "audit/payloads.json", { ...readPayloads(files), [entry.seq]: payload });
    return `the payload of another ${entry.type}`;
  },
  (files, next, donor) => {
    const names = [
      "signature",
      "evidence_hash",
      "preimage",
      "canonical",
      "anchor",
      "policies",
      "verify_url",
      "fingerprint",
      "disclosure_text",
    ];
    const name = pick(names, next) as string;
    const [current, other] = [readCertificate(files)[name], readCertificate(donor)[name]];
    if (other === undefined || toCanonicalJson(current ?? null) === toCanonicalJson(other)) return null;
    setMembers(files, { [name]: other });
    return `${name} of another certificate`;
  },
  (files, _, donor) => {
    setText(files, "certificate.html", readText(donor, "certificate.html"));
    return "page: the page of another certificate";
  },
];

const moves: readonly Lie[] = [
  (files, next) => {
    const [a, b] = [pick(listClaimedEntries(files), next), pick(listClaimedEntries(files), next)] as [AuditEntry, AuditEntry];
    if (a.seq === b.seq) return null;
    const payloads = readPayloads(files);
    setJson(files, "audit/payloads.json", { ...payloads, [a.seq]: payloads[b.seq] as Json, [b.seq]: payloads[a.seq] as Json });
    return `payloads of ${a.type} and ${b.type} exchanged`;
  },
  (files) => {
    const [first, second] = listIn(files, "policies") as [JsonObject, JsonObject];
    const exchangeSource = (item: JsonObject): JsonObject => ({
      ...item,
      source_url: (item.kind === first.kind ? second : first).source_url as string,
    });
    setMembers(files, { policies: [exchangeSource(first), exchangeSource(second)] });
    setJson(files, "policies/index.json", (readJson(files, "policies/index.json") as JsonObject[]).map(exchangeSource));
    return "addresses of the policies exchanged";
  },
  (files, next) => {
    const [first, second] = listIn(files, "entities_withdrawn");
    if (first === undefined || second === undefined) return null;
    const numberReceipt = (item: JsonObject, number: number): JsonObject => ({
      ...item,
      receipt_url: String(item.receipt_url).replace(/=\d+$/, `=${number}`),
    });
    setMembers(files, {
      entities_withdrawn: next(2) === 0 ? [first, numberReceipt(second, 2)] : [numberReceipt(first, 2), numberReceipt(second, 2)],
    });
    return "a recipient moved to another withdrawal";
  },
  (files, next) => {
    const at = next(2);
    if (!isText(listIn(files, "entities_withdrawn")[at]?.cease_acknowledged_at)) return null;
    setItem(files, "entities_withdrawn", at, { cease_acknowledged_at: null });
    return `the acknowledgment taken from recipient ${at}`;
  },
  (files, next) => {
    const folders = [...new Set([...files.keys()].flatMap((path) => /^anchors\/([^/]+)\//.exec(path)?.[1] ?? []))];
    const [from, target] = [pick(folders, next), pick(folders, next)];
    if (from === target) return null;
    const name = pick(["statement.json", "receipt.json", "entry.tlog-proof"], next) as string;
    files.set(`anchors/${target}/${name}`, files.get(`anchors/${from}/${name}`) as Uint8Array);
    return `${name} moved from ${from} to ${target}`;
  },
  (files, next) => {
    const entries = listClaimedEntries(files);
    const entry = pick(entries, next) as AuditEntry;
    const type = pick(["certificate.subject_read", "policy.linked", "business.ceased"], next) as string;
    if (entry.type === type) return null;
    setEntries(
      files,
      readEntries(files).map((one) => (one.seq === entry.seq ? { ...one, type } : one)),
    );
    return `${entry.type} renamed to ${type}`;
  },
];

const toHexText = (bytes: Uint8Array): string => sha256Hex(bytes);

/**
 * Ways to cover up a lie. None of them drops an audit entry: if the matching claim were dropped too, nothing in the pack would contradict
 * the lie.
 */
const covers: readonly ((files: Files, next: Next) => string)[] = [
  (files, next) => {
    const entry = pick(listClaimedEntries(files), next);
    if (entry !== undefined) dropPayloads(files, [entry.seq]);
    return `payload of ${entry?.type} dropped`;
  },
  (files) => {
    setJson(files, "audit/payloads.json", {});
    return "payloads dropped";
  },
  (files) => {
    dropFiles(files, /^(?:withdrawals|anchors\/withdrawn-1)\//);
    return "receipts dropped";
  },
  (files) => {
    const older = listIn(files, "entities_withdrawn").map(({ method: _, received_at: __, ...item }) => item as JsonObject);
    if (older.length > 0) setMembers(files, { entities_withdrawn: older });
    return "called older";
  },
  (files) => {
    if (readCertificate(files).evidence === null) return "nothing";
    setMembers(files, { evidence: null });
    const manifest = readJson(files, "manifest.json");
    const redacted = [...new Set([...manifest.redacted, "evidence"])].sort();
    setJson(files, "manifest.json", { ...manifest, redacted });
    return "evidence redacted";
  },
  (files) => {
    setMembers(files, { anchor: null });
    return "anchor not published";
  },
];

/** Recomputes `overdue` from the other members, so that it does not reveal the lie. */
const updateOverdue = (files: Files): void => {
  const { created_at: createdAt } = readJson(files, "manifest.json") as { readonly created_at: string };
  const { withdrawal } = readCertificate(files) as { readonly withdrawal: JsonObject | null };
  const acknowledgedAt = withdrawal?.cease_acknowledged_at ?? null;
  const isOverdue = (item: JsonObject): boolean =>
    (item.cease_acknowledged_at ?? acknowledgedAt) === null && createdAt > String(item.cease_by);
  const updateItem = (item: JsonObject): JsonObject => ({ ...item, overdue: isOverdue(item) });
  if (withdrawal !== null) setMembers(files, { withdrawal: updateItem(withdrawal) });
  if (listIn(files, "entities_withdrawn").length > 0)
    setMembers(files, { entities_withdrawn: listIn(files, "entities_withdrawn").map(updateItem) });
};

export interface LyingPack {
  /** Describes the seed, pack, lie and cover-ups. */
  readonly description: string;
  readonly zip: Uint8Array;
}

const kinds = { contradict: contradictions, drop: drops, swap: swaps, move: moves } as const;

export const buildLyingPack = async (honest: readonly HonestPack[], seed: number): Promise<LyingPack> => {
  const next = createRandom(seed);
  for (;;) {
    const { name, files: honestFiles, donor } = pick(honest, next) as HonestPack;
    const files = new Map(honestFiles);
    const kind = pick(Object.keys(kinds) as (keyof typeof kinds)[], next) as keyof typeof kinds;
    const lie = (pick<Lie>(kinds[kind], next) as Lie)(files, next, donor);
    if (lie === null) continue;
    // Only contradictions are covered up. A cover-up changes other evidence, which could undo a lie that drops, swaps or moves evidence.
    const isCovered = kind === "contradict" && !lie.startsWith("page:");
    const covered = isCovered ? Array.from({ length: next(3) }, () => (pick(covers, next) as (typeof covers)[number])(files, next)) : [];
    if (isCovered) updateOverdue(files);
    const isRendered = !lie.startsWith("page:") && next(5) > 0 && files.has("certificate.json");
    const signed = await resignFiles(isRendered ? withFittingPage(files) : files, issuer);
    const description = `seed ${seed}: ${name}; ${kind}: ${lie}; ${[...covered, isRendered ? "page rendered again" : "page kept"].join(", ")}`;
    return { description, zip: zipFiles(signed) };
  }
};
