// RFC 3161 timestamps: the request, and every check of the reply. The authority's key is pinned, so certificate chains are not checked.
// Some parts of a reply can be changed without affecting what it proves: the outer encoding, unsigned attributes, and the certificates' own
// signatures. A format that contains a reply must therefore protect the reply's bytes itself.
import { toHex, areBytesEqual } from "../bytes.ts";
import type { Bytes } from "../hash.ts";
import { fail, type Fault, type Verdict } from "../result.ts";
import { toIso, hourMs, minuteMs, type Instant } from "../time.ts";
import {
  toContextTag,
  encodeDer,
  encodeOid,
  encodeUnsignedInteger,
  parseOid,
  parseDer,
  derTags,
  createSequenceReader,
  type DerValue,
} from "./der.ts";
import { isKeyInUse, isIsoTime, type KeyValidity } from "./key-validity.ts";
import { isSignedBy, parseSpki, rsaEncryptionOid, type SignatureCrypto } from "./spki.ts";

/** An authority's key with its validity period. Both come from the configuration, never from a token. */
export interface TimestampPin extends KeyValidity {
  readonly name: string;
  /** The SHA-256 of the signer's SubjectPublicKeyInfo, as hex. */
  readonly spkiSha256: string;
}

/**
 * The maximum time from a statement to its timestamp. The statement itself is not timestamped. The timestamp is on the next checkpoint,
 * which is taken every 15 minutes.
 */
const maxTimestampDelayMs = hourMs;

/**
 * Returns whether a statement with the time `at` needs a timestamp. It does if at least one key is still valid an hour later. The start of
 * a key's validity is ignored. Otherwise, a statement could avoid the timestamp by claiming a time before all keys became valid.
 */
export const needsTimestamp = (pins: readonly TimestampPin[], at: Instant): boolean =>
  pins.some(({ validTo }) => validTo === undefined || at + maxTimestampDelayMs < Date.parse(validTo));

/** Object identifiers as the hex of their DER content. */
const oids = {
  signedData: "2a864886f70d010702",
  timestampInfo: "2a864886f70d0109100104",
  contentType: "2a864886f70d010903",
  messageDigest: "2a864886f70d010904",
  signingCertificate: "2a864886f70d010910020c",
  signingCertificateV2: "2a864886f70d010910022f",
  sha256: "608648016503040201",
} as const;

const sha256Name = "SHA-256";
const hashNames: Readonly<Record<string, string>> = {
  [oids.sha256]: sha256Name,
  "608648016503040202": "SHA-384",
  "608648016503040203": "SHA-512",
};
/**
 * The hash algorithm of each signature algorithm. Plain rsaEncryption is not listed: it does not specify a hash algorithm, so the digest
 * algorithm is used.
 */
const ecdsaHashes: Readonly<Record<string, string>> = {
  "2a8648ce3d040302": "SHA-256",
  "2a8648ce3d040303": "SHA-384",
  "2a8648ce3d040304": "SHA-512",
};
const rsaHashes: Readonly<Record<string, string>> = {
  "2a864886f70d01010b": "SHA-256",
  "2a864886f70d01010c": "SHA-384",
  "2a864886f70d01010d": "SHA-512",
};
const derNull = encodeDer(derTags.nullValue);

/** Encodes a TimeStampReq for a SHA-256 imprint. The request asks for the signer's certificate. `nonce` is 8 random bytes. */
export const encodeTimestampRequest = (imprint: Uint8Array, nonce: Uint8Array): Bytes =>
  encodeDer(
    derTags.sequence,
    encodeUnsignedInteger(new Uint8Array([1])),
    encodeDer(derTags.sequence, encodeDer(derTags.sequence, encodeOid(oids.sha256), derNull), encodeDer(derTags.octetString, imprint)),
    encodeUnsignedInteger(nonce),
    encodeDer(derTags.boolean, new Uint8Array([0xff])),
  );

export type TimestampFault =
  | "reply_malformed"
  | "not_granted"
  | "content_type"
  | "imprint_mismatch"
  | "nonce_mismatch"
  | "time_outside_window"
  | "digest_mismatch"
  | "certificate_missing"
  | "certificate_mismatch"
  | "algorithm_unsupported"
  | "bad_signature";

export interface Timestamp {
  readonly time: Instant;
  /** The serial number that the authority gave the token, as hex. */
  readonly serial: string;
  /** The SHA-256 of the signer's SubjectPublicKeyInfo, as hex. */
  readonly spkiSha256: string;
}

export type TimestampVerdict =
  | Verdict<{ timestamp: Timestamp; pin: TimestampPin }, TimestampFault>
  /** The timestamp is valid, but its key is not pinned for that time. */
  | (Fault<"signer_not_pinned"> & { readonly timestamp: Timestamp });

interface TimestampInfo {
  readonly imprintHash: string | null;
  readonly imprint: Bytes;
  readonly serial: Bytes;
  readonly time: Instant;
  readonly nonce: Bytes | null;
}

interface SignerCertificate {
  readonly encoded: Bytes;
  readonly issuer: Bytes;
  readonly serial: Bytes;
  readonly spki: DerValue;
}

interface SignedToken {
  readonly contentType: string | null;
  /** The bytes of the TSTInfo. */
  readonly content: Bytes;
  readonly info: TimestampInfo | null;
  readonly certificates: readonly SignerCertificate[];
  /** The issuer and serial number of the signer's certificate; null if the token identifies the signer by key ID. */
  readonly signerId: { readonly issuer: Bytes; readonly serial: Bytes } | null;
  readonly digestName: string | undefined;
  readonly attributes: DerValue;
  readonly signatureOid: string | null;
  readonly signature: Bytes;
}

/** Returns the object identifier of an AlgorithmIdentifier. Returns null if it has parameters other than NULL. */
const parseAlgorithm = (value: DerValue | undefined): string | null => {
  const members = createSequenceReader(value);
  const oid = parseOid(members.next(derTags.oid));
  members.next(derTags.nullValue);
  return members.done() ? oid : null;
};

/** Parses a time such as `20260304050607Z`, with an optional fraction. Returns null for times that do not exist. */
const parseGeneralizedTime = (value: DerValue | undefined): Instant | null => {
  const text = String.fromCharCode(...(value?.content.subarray(0, 40) ?? []));
  const [, year = "", month = "", day = "", hour = "", minute = "", second = "", fraction = ""] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d{0,19}[1-9]))?Z$/.exec(text) ?? [];
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
  return isIsoTime(iso) ? Date.parse(iso) : null;
};

const parseTimestampInfo = (content: Bytes): TimestampInfo | null => {
  const members = createSequenceReader(parseDer(content) ?? undefined);
  const version = members.next(derTags.integer);
  const policy = members.next(derTags.oid);
  const imprint = createSequenceReader(members.next(derTags.sequence));
  const imprintHash = parseAlgorithm(imprint.next(derTags.sequence));
  const hashed = imprint.next(derTags.octetString);
  const serial = members.next(derTags.integer);
  const time = parseGeneralizedTime(members.next(derTags.generalizedTime));
  members.next(derTags.sequence); // skips the accuracy
  members.next(derTags.boolean); // skips the ordering
  const nonce = members.next(derTags.integer);
  members.next(toContextTag(0)); // skips the authority's name
  members.next(toContextTag(1)); // skips the extensions
  if (version === undefined || !areBytesEqual(version.content, new Uint8Array([1])) || policy === undefined || !members.done()) return null;
  if (hashed === undefined || !imprint.done() || serial === undefined || time === null) return null;
  return { imprintHash, imprint: hashed.content, serial: serial.content, time, nonce: nonce?.content ?? null };
};

const parseSignerCertificate = (value: DerValue): SignerCertificate | null => {
  const body = createSequenceReader(value.children[0]);
  body.next(toContextTag(0)); // skips the version
  const serial = body.next(derTags.integer);
  body.next(derTags.sequence); // skips the algorithm of the certificate's own signature
  const issuer = body.next(derTags.sequence);
  body.next(derTags.sequence); // skips the validity
  body.next(derTags.sequence); // skips the subject
  const spki = body.next(derTags.sequence);
  return value.tag === derTags.sequence && serial !== undefined && issuer !== undefined && spki !== undefined
    ? { encoded: value.encoded, issuer: issuer.encoded, serial: serial.encoded, spki }
    : null;
};

/** Returns the value inside the tag `[0]`, which must contain exactly one value. */
const unwrapExplicitTag = (value: DerValue | undefined): DerValue | undefined =>
  value?.children.length === 1 ? value.children[0] : undefined;

const parseSignedToken = (token: DerValue): SignedToken | null => {
  const outer = createSequenceReader(token);
  const isSigned = parseOid(outer.next(derTags.oid)) === oids.signedData;
  const message = createSequenceReader(unwrapExplicitTag(outer.next(toContextTag(0))));
  if (!isSigned || !outer.done()) return null;
  const version = message.next(derTags.integer);
  const digests = message.next(derTags.set);
  const encapsulated = createSequenceReader(message.next(derTags.sequence));
  const certificates = message.next(toContextTag(0))?.children ?? [];
  message.next(toContextTag(1)); // skips the revocation lists
  const signers = message.next(derTags.set);
  if (version === undefined || digests === undefined || !message.done()) return null;
  if (signers?.children.length !== 1) return null; // RFC 3161 allows one signer, the authority

  const contentType = parseOid(encapsulated.next(derTags.oid));
  const content = unwrapExplicitTag(encapsulated.next(toContextTag(0)));
  if (content?.tag !== derTags.octetString || !encapsulated.done()) return null;

  const signer = createSequenceReader(signers.children[0]);
  const signerVersion = signer.next(derTags.integer);
  const id = signer.next(derTags.sequence);
  const byKeyId = id === undefined && signer.next(toContextTag(0, false)) !== undefined;
  const digestOid = parseAlgorithm(signer.next(derTags.sequence));
  const attributes = signer.next(toContextTag(0));
  const signatureOid = parseAlgorithm(signer.next(derTags.sequence));
  const signature = signer.next(derTags.octetString);
  signer.next(toContextTag(1)); // skips the unsigned attributes
  if (
    signerVersion === undefined ||
    (id === undefined && !byKeyId) ||
    attributes === undefined ||
    signature === undefined ||
    !signer.done()
  )
    return null;
  const [issuer, serial, ...more] = id?.children ?? [];
  if (id !== undefined && (issuer === undefined || serial === undefined || more.length > 0)) return null;
  return {
    contentType,
    content: content.content,
    info: parseTimestampInfo(content.content),
    certificates: certificates.map(parseSignerCertificate).filter((certificate) => certificate !== null),
    signerId: issuer === undefined || serial === undefined ? null : { issuer: issuer.encoded, serial: serial.encoded },
    digestName: hashNames[digestOid ?? ""],
    attributes,
    signatureOid,
    signature: signature.content,
  };
};

/**
 * Returns the value of the signed attribute `oid`. Returns `none` if the attribute is missing, and null if it is repeated or has several
 * values.
 */
const findSignedAttribute = (attributes: DerValue, oid: string): DerValue | "none" | null => {
  const found = attributes.children.filter((attribute) => parseOid(attribute.children[0]) === oid);
  if (found.length === 0) return "none";
  const members = createSequenceReader(found[0]);
  members.next(derTags.oid);
  const values = members.next(derTags.set);
  return found.length === 1 && members.done() && values?.children.length === 1 ? (values.children[0] ?? null) : null;
};

/**
 * Parses SigningCertificateV2, or its predecessor, which uses SHA-1. Returns the hash of the signer's certificate and the name of its
 * algorithm, or null if the attribute is malformed or the algorithm is not supported.
 */
const parseCertificateId = (attribute: DerValue, isV2: boolean): { readonly hashName: string; readonly hash: Bytes } | null => {
  const first = createSequenceReader(createSequenceReader(attribute).next(derTags.sequence)?.children[0]);
  const algorithm = isV2 ? first.next(derTags.sequence) : undefined;
  const hashName = !isV2 ? "SHA-1" : algorithm === undefined ? sha256Name : hashNames[parseAlgorithm(algorithm) ?? ""];
  const hash = first.next(derTags.octetString);
  return hashName === undefined || hash === undefined ? null : { hashName, hash: hash.content };
};

/**
 * Returns the certificate that the signed attributes identify. Returns a fault if they identify none, or if the token does not contain the
 * certificate.
 */
const findSignerCertificate = async (
  subtle: SignatureCrypto,
  signed: SignedToken,
): Promise<SignerCertificate | "certificate_missing" | "certificate_mismatch"> => {
  const v2 = findSignedAttribute(signed.attributes, oids.signingCertificateV2);
  const v1 = findSignedAttribute(signed.attributes, oids.signingCertificate);
  if (v1 === null || v2 === null || (v1 === "none" && v2 === "none")) return "certificate_mismatch";
  if (signed.certificates.length === 0) return "certificate_missing";
  const ids = [...(v2 === "none" ? [] : [parseCertificateId(v2, true)]), ...(v1 === "none" ? [] : [parseCertificateId(v1, false)])];
  for (const certificate of signed.certificates) {
    const { signerId } = signed;
    if (signerId !== null && !(areBytesEqual(signerId.issuer, certificate.issuer) && areBytesEqual(signerId.serial, certificate.serial)))
      continue;
    let isNamed = true;
    for (const id of ids) {
      isNamed &&= id !== null && areBytesEqual(new Uint8Array(await subtle.digest(id.hashName, certificate.encoded)), id.hash);
    }
    if (isNamed) return certificate;
  }
  return "certificate_mismatch";
};

/** Returns the hash algorithm of the signature, or null for unsupported signatures and keys. */
const selectSignatureHash = (spki: Uint8Array, signed: SignedToken): string | null => {
  const oid = signed.signatureOid ?? "";
  const kind = parseSpki(spki)?.kind;
  if (kind === "ecdsa") return ecdsaHashes[oid] ?? null;
  if (kind === "rsa") return (oid === rsaEncryptionOid ? signed.digestName : rsaHashes[oid]) ?? null;
  return null;
};

/** Encodes the attributes as they were signed, with the SET tag. In the token they have the tag [0] (RFC 5652, 5.4). */
const encodeSignedAttributes = (attributes: DerValue): Bytes => {
  const data = new Uint8Array(attributes.encoded);
  data[0] = derTags.set;
  return data;
};

const maxClockSkewMs = 5 * minuteMs; // the allowed difference between the authority's clock and ours

export interface TimestampVerificationInput {
  /** The authority's reply (TimeStampResp), unchanged. */
  readonly token: Uint8Array;
  /** The bytes that were timestamped. For a checkpoint, this is the stored note. */
  readonly imprintBytes: Uint8Array;
  readonly pins: readonly TimestampPin[];
  /** The nonce of the request. Only the requester knows it, so it is undefined in later verifications. */
  readonly nonce?: Uint8Array;
  /** When the request was sent and when the reply was received, by our clock. Undefined in later verifications. */
  readonly window?: { readonly sentAt: Instant; readonly receivedAt: Instant };
}

const encodeIntegerContent = (bytes: Uint8Array): Bytes => parseDer(encodeUnsignedInteger(bytes))?.content ?? new Uint8Array(0);

/**
 * Verifies a token. The checks run in this order: well-formed reply, granted, content type, imprint, nonce, time within five minutes of the
 * request and reply, digest, signer's certificate, algorithm, signature, pin. The pin comes last, so `signer_not_pinned` means that all
 * other checks passed.
 */
export const verifyTimestampToken = async (input: TimestampVerificationInput, subtle: SignatureCrypto): Promise<TimestampVerdict> => {
  const reply = createSequenceReader(parseDer(input.token) ?? undefined);
  const status = reply.next(derTags.sequence)?.children[0];
  const token = reply.next(derTags.sequence);
  if (status?.tag !== derTags.integer || !reply.done()) return fail("reply_malformed");
  const isGranted = status.content.length === 1 && (status.content[0] === 0 || status.content[0] === 1);
  if (!isGranted) return fail("not_granted");
  const signed = token === undefined ? null : parseSignedToken(token);
  if (signed === null) return fail("reply_malformed");

  const typeAttribute = findSignedAttribute(signed.attributes, oids.contentType);
  if (signed.contentType !== oids.timestampInfo) return fail("content_type");
  if (typeAttribute === null || typeAttribute === "none" || parseOid(typeAttribute) !== oids.timestampInfo) return fail("content_type");
  const { info } = signed;
  if (info === null) return fail("reply_malformed");
  const imprint = new Uint8Array(await subtle.digest(sha256Name, new Uint8Array(input.imprintBytes)));
  if (info.imprintHash !== oids.sha256 || !areBytesEqual(info.imprint, imprint)) return fail("imprint_mismatch");
  const { nonce, window } = input;
  if (nonce !== undefined && (info.nonce === null || !areBytesEqual(info.nonce, encodeIntegerContent(nonce))))
    return fail("nonce_mismatch");
  if (window !== undefined && (info.time < window.sentAt - maxClockSkewMs || info.time > window.receivedAt + maxClockSkewMs)) {
    return fail("time_outside_window");
  }

  const digestAttribute = findSignedAttribute(signed.attributes, oids.messageDigest);
  if (signed.digestName === undefined) return fail("algorithm_unsupported");
  const digest = new Uint8Array(await subtle.digest(signed.digestName, new Uint8Array(signed.content)));
  if (digestAttribute === null || digestAttribute === "none" || digestAttribute.tag !== derTags.octetString) return fail("digest_mismatch");
  if (!areBytesEqual(digestAttribute.content, digest)) return fail("digest_mismatch");

  const certificate = await findSignerCertificate(subtle, signed);
  if (typeof certificate === "string") return fail(certificate);
  const spki = certificate.spki.encoded;
  const hash = selectSignatureHash(spki, signed);
  if (hash === null) return fail("algorithm_unsupported");
  const { signature, attributes } = signed;
  if (!(await isSignedBy(subtle, spki, { hash, signature, data: encodeSignedAttributes(attributes) }))) return fail("bad_signature");

  const spkiSha256 = toHex(new Uint8Array(await subtle.digest(sha256Name, spki)));
  const timestamp: Timestamp = { time: info.time, serial: toHex(info.serial), spkiSha256 };
  const pin = input.pins.find((candidate) => candidate.spkiSha256 === spkiSha256 && isKeyInUse(candidate, toIso(info.time)));
  return pin === undefined ? { ...fail("signer_not_pinned"), timestamp } : { ok: true, timestamp, pin };
};
