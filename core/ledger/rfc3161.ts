// RFC 3161 time stamps: the request for one, and every check of the reply. A token proves that bytes existed at a time to
// whoever trusts the authority's key, which is pinned here: no certificate chain is looked at. Signatures are checked by
// WebCrypto, handed in, so that the same lines run in an object, in Node and in a browser.
//
// A reply can be changed without harm to what it proves (outer encoding, unsigned attributes, the certificates' own
// signatures): that nobody touched its bytes has to be shown by whatever carries it.
import { hexOf, isSameBytes } from "../bytes.ts";
import type { Bytes } from "../hash.ts";
import { fail, type Fault, type Verdict } from "../result.ts";
import { isoOf, minuteMs, type Instant } from "../time.ts";
import { contextTag, der, derOid, derUnsigned, oidOf, parseDer, tags, walk, type Der } from "./der.ts";
import { isInUse, isIsoTime, type KeyWindow } from "./key-window.ts";
import { isSignedBy, keyOfSpki, rsaEncryption, type SignatureCrypto } from "./spki.ts";

/** A key of an authority and when it was in use; configured, never taken from a token. ISO times. */
export interface TimestampPin extends KeyWindow {
  readonly name: string;
  /** Hex SHA-256 of the signer's SubjectPublicKeyInfo. */
  readonly spkiSha256: string;
}

/** Identifiers as the hex of their DER content. */
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
/** The hash each signature algorithm names; plain rsaEncryption names none and uses that of the digest. */
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
const nullValue = der(tags.nothing);

/** TimeStampReq over a SHA-256 imprint; asks for the signer's certificate. `nonce` is 8 random bytes. */
export const timestampRequest = (imprint: Uint8Array, nonce: Uint8Array): Bytes =>
  der(
    tags.sequence,
    derUnsigned(new Uint8Array([1])),
    der(tags.sequence, der(tags.sequence, derOid(oids.sha256), nullValue), der(tags.octetString, imprint)),
    derUnsigned(nonce),
    der(tags.boolean, new Uint8Array([0xff])),
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
  /** Hex, as the authority numbers its tokens. */
  readonly serial: string;
  /** Hex SHA-256 of the signer's SubjectPublicKeyInfo. */
  readonly spkiSha256: string;
}

export type TimestampVerdict =
  | Verdict<{ timestamp: Timestamp; pin: TimestampPin }, TimestampFault>
  /** Nothing else is wrong: a good time stamp by a key that nobody vouches for. */
  | (Fault<"signer_not_pinned"> & { readonly timestamp: Timestamp });

interface Info {
  readonly imprintHash: string | null;
  readonly imprint: Bytes;
  readonly serial: Bytes;
  readonly time: Instant;
  readonly nonce: Bytes | null;
}

interface Certificate {
  readonly whole: Bytes;
  readonly issuer: Bytes;
  readonly serial: Bytes;
  readonly spki: Der;
}

interface SignedInfo {
  readonly contentType: string | null;
  /** The bytes of TSTInfo. */
  readonly content: Bytes;
  readonly info: Info | null;
  readonly certificates: readonly Certificate[];
  /** Issuer and serial of the signer's certificate; null when the token names it by key id. */
  readonly signerId: { readonly issuer: Bytes; readonly serial: Bytes } | null;
  readonly digestName: string | undefined;
  readonly attributes: Der;
  readonly signatureOid: string | null;
  readonly signature: Bytes;
}

/** The identifier of an AlgorithmIdentifier without parameters; null for any other. */
const plainAlgorithm = (value: Der | undefined): string | null => {
  const members = walk(value);
  const oid = oidOf(members.next(tags.oid));
  members.next(tags.nothing);
  return members.done() ? oid : null;
};

/** `20260304050607Z`, with or without a fraction; null for times that are not on the clock. */
const instantOf = (value: Der | undefined): Instant | null => {
  const text = String.fromCharCode(...(value?.content.subarray(0, 40) ?? []));
  const [, year = "", month = "", day = "", hour = "", minute = "", second = "", fraction = ""] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d{0,19}[1-9]))?Z$/.exec(text) ?? [];
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
  return isIsoTime(iso) ? Date.parse(iso) : null;
};

const readInfo = (content: Bytes): Info | null => {
  const members = walk(parseDer(content) ?? undefined);
  const version = members.next(tags.integer);
  const policy = members.next(tags.oid);
  const imprint = walk(members.next(tags.sequence));
  const imprintHash = plainAlgorithm(imprint.next(tags.sequence));
  const hashed = imprint.next(tags.octetString);
  const serial = members.next(tags.integer);
  const time = instantOf(members.next(tags.time));
  members.next(tags.sequence); // accuracy
  members.next(tags.boolean); // ordering
  const nonce = members.next(tags.integer);
  members.next(contextTag(0)); // the authority's name
  members.next(contextTag(1)); // extensions
  if (version === undefined || !isSameBytes(version.content, new Uint8Array([1])) || policy === undefined || !members.done()) return null;
  if (hashed === undefined || !imprint.done() || serial === undefined || time === null) return null;
  return { imprintHash, imprint: hashed.content, serial: serial.content, time, nonce: nonce?.content ?? null };
};

const readCertificate = (value: Der): Certificate | null => {
  const body = walk(value.children[0]);
  body.next(contextTag(0)); // version
  const serial = body.next(tags.integer);
  body.next(tags.sequence); // algorithm of its own signature
  const issuer = body.next(tags.sequence);
  body.next(tags.sequence); // validity
  body.next(tags.sequence); // subject
  const spki = body.next(tags.sequence);
  return value.tag === tags.sequence && serial !== undefined && issuer !== undefined && spki !== undefined
    ? { whole: value.whole, issuer: issuer.whole, serial: serial.whole, spki }
    : null;
};

/** The content of `[0]` around exactly one value. */
const explicit = (value: Der | undefined): Der | undefined => (value?.children.length === 1 ? value.children[0] : undefined);

const readToken = (token: Der): SignedInfo | null => {
  const outer = walk(token);
  const isSigned = oidOf(outer.next(tags.oid)) === oids.signedData;
  const message = walk(explicit(outer.next(contextTag(0))));
  if (!isSigned || !outer.done()) return null;
  const version = message.next(tags.integer);
  const digests = message.next(tags.set);
  const encapsulated = walk(message.next(tags.sequence));
  const certificates = message.next(contextTag(0))?.children ?? [];
  message.next(contextTag(1)); // revocation lists
  const signers = message.next(tags.set);
  if (version === undefined || digests === undefined || !message.done()) return null;
  if (signers?.children.length !== 1) return null; // RFC 3161: one signer, the authority

  const contentType = oidOf(encapsulated.next(tags.oid));
  const content = explicit(encapsulated.next(contextTag(0)));
  if (content?.tag !== tags.octetString || !encapsulated.done()) return null;

  const signer = walk(signers.children[0]);
  const signerVersion = signer.next(tags.integer);
  const id = signer.next(tags.sequence);
  const byKeyId = id === undefined && signer.next(contextTag(0, false)) !== undefined;
  const digestOid = plainAlgorithm(signer.next(tags.sequence));
  const attributes = signer.next(contextTag(0));
  const signatureOid = plainAlgorithm(signer.next(tags.sequence));
  const signature = signer.next(tags.octetString);
  signer.next(contextTag(1)); // unsigned attributes
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
    info: readInfo(content.content),
    certificates: certificates.map(readCertificate).filter((one) => one !== null),
    signerId: issuer === undefined || serial === undefined ? null : { issuer: issuer.whole, serial: serial.whole },
    digestName: hashNames[digestOid ?? ""],
    attributes,
    signatureOid,
    signature: signature.content,
  };
};

/** The one value of the signed attribute `oid`: `none` when it is not there, null when it is there twice or has several values. */
const attributeOf = (attributes: Der, oid: string): Der | "none" | null => {
  const found = attributes.children.filter((attribute) => oidOf(attribute.children[0]) === oid);
  if (found.length === 0) return "none";
  const members = walk(found[0]);
  members.next(tags.oid);
  const values = members.next(tags.set);
  return found.length === 1 && members.done() && values?.children.length === 1 ? (values.children[0] ?? null) : null;
};

/** Hash of the signer's certificate as the authority signed it: of SigningCertificateV2, or of its SHA-1 predecessor. */
const certificateId = (attribute: Der, isV2: boolean): { readonly hashName: string; readonly hash: Bytes } | null => {
  const first = walk(walk(attribute).next(tags.sequence)?.children[0]);
  const algorithm = isV2 ? first.next(tags.sequence) : undefined;
  const hashName = !isV2 ? "SHA-1" : algorithm === undefined ? sha256Name : hashNames[plainAlgorithm(algorithm) ?? ""];
  const hash = first.next(tags.octetString);
  return hashName === undefined || hash === undefined ? null : { hashName, hash: hash.content };
};

/** The certificate that the signed attributes name; a fault when they name none, or none that came along. */
const signerCertificate = async (
  subtle: SignatureCrypto,
  signed: SignedInfo,
): Promise<Certificate | "certificate_missing" | "certificate_mismatch"> => {
  const v2 = attributeOf(signed.attributes, oids.signingCertificateV2);
  const v1 = attributeOf(signed.attributes, oids.signingCertificate);
  if (v1 === null || v2 === null || (v1 === "none" && v2 === "none")) return "certificate_mismatch";
  if (signed.certificates.length === 0) return "certificate_missing";
  const ids = [...(v2 === "none" ? [] : [certificateId(v2, true)]), ...(v1 === "none" ? [] : [certificateId(v1, false)])];
  for (const certificate of signed.certificates) {
    const { signerId } = signed;
    if (signerId !== null && !(isSameBytes(signerId.issuer, certificate.issuer) && isSameBytes(signerId.serial, certificate.serial)))
      continue;
    let isNamed = true;
    for (const id of ids) {
      isNamed &&= id !== null && isSameBytes(new Uint8Array(await subtle.digest(id.hashName, certificate.whole)), id.hash);
    }
    if (isNamed) return certificate;
  }
  return "certificate_mismatch";
};

/** The hash that the signature is over; null for signatures and keys of kinds not read here. */
const signatureHash = (spki: Uint8Array, signed: SignedInfo): string | null => {
  const oid = signed.signatureOid ?? "";
  const kind = keyOfSpki(spki)?.kind;
  if (kind === "ecdsa") return ecdsaHashes[oid] ?? null;
  if (kind === "rsa") return (oid === rsaEncryption ? signed.digestName : rsaHashes[oid]) ?? null;
  return null;
};

/** What is signed is the set of attributes itself, under the tag of a set; in the token it stands under [0] (RFC 5652, 5.4). */
const signedBytes = (attributes: Der): Bytes => {
  const data = new Uint8Array(attributes.whole);
  data[0] = tags.set;
  return data;
};

const clockSlackMs = 5 * minuteMs; // an authority and we may be that far apart

export interface TimestampQuestion {
  /** The authority's reply (TimeStampResp), as it came and as it is stored. */
  readonly token: Uint8Array;
  /** The stamped bytes themselves: of a checkpoint, the note as it is stored. */
  readonly imprintBytes: Uint8Array;
  readonly pins: readonly TimestampPin[];
  /** As sent; known only to whoever asked. */
  readonly nonce?: Uint8Array;
  /** When the request went and when the reply came, by our clock; known only to whoever asked. */
  readonly window?: { readonly sentAt: Instant; readonly receivedAt: Instant };
}

const integerOf = (bytes: Uint8Array): Bytes => parseDer(derUnsigned(bytes))?.content ?? new Uint8Array(0);

/**
 * In this order: one whole reply, granted, a time stamp, over these bytes, nonce, time within five minutes of the exchange,
 * digest of what is signed, the signer's certificate, a known algorithm, the signature; and last the pin, so that
 * `signer_not_pinned` means that nothing else is wrong.
 */
export const verifyTimestampToken = async (question: TimestampQuestion, subtle: SignatureCrypto): Promise<TimestampVerdict> => {
  const reply = walk(parseDer(question.token) ?? undefined);
  const status = reply.next(tags.sequence)?.children[0];
  const token = reply.next(tags.sequence);
  if (status?.tag !== tags.integer || !reply.done()) return fail("reply_malformed");
  const isGranted = status.content.length === 1 && (status.content[0] === 0 || status.content[0] === 1);
  if (!isGranted) return fail("not_granted");
  const signed = token === undefined ? null : readToken(token);
  if (signed === null) return fail("reply_malformed");

  const typeAttribute = attributeOf(signed.attributes, oids.contentType);
  if (signed.contentType !== oids.timestampInfo) return fail("content_type");
  if (typeAttribute === null || typeAttribute === "none" || oidOf(typeAttribute) !== oids.timestampInfo) return fail("content_type");
  const { info } = signed;
  if (info === null) return fail("reply_malformed");
  const imprint = new Uint8Array(await subtle.digest(sha256Name, new Uint8Array(question.imprintBytes)));
  if (info.imprintHash !== oids.sha256 || !isSameBytes(info.imprint, imprint)) return fail("imprint_mismatch");
  const { nonce, window } = question;
  if (nonce !== undefined && (info.nonce === null || !isSameBytes(info.nonce, integerOf(nonce)))) return fail("nonce_mismatch");
  if (window !== undefined && (info.time < window.sentAt - clockSlackMs || info.time > window.receivedAt + clockSlackMs)) {
    return fail("time_outside_window");
  }

  const digestAttribute = attributeOf(signed.attributes, oids.messageDigest);
  if (signed.digestName === undefined) return fail("algorithm_unsupported");
  const digest = new Uint8Array(await subtle.digest(signed.digestName, new Uint8Array(signed.content)));
  if (digestAttribute === null || digestAttribute === "none" || digestAttribute.tag !== tags.octetString) return fail("digest_mismatch");
  if (!isSameBytes(digestAttribute.content, digest)) return fail("digest_mismatch");

  const certificate = await signerCertificate(subtle, signed);
  if (typeof certificate === "string") return fail(certificate);
  const spki = certificate.spki.whole;
  const hash = signatureHash(spki, signed);
  if (hash === null) return fail("algorithm_unsupported");
  const { signature, attributes } = signed;
  if (!(await isSignedBy(subtle, spki, { hash, signature, data: signedBytes(attributes) }))) return fail("bad_signature");

  const spkiSha256 = hexOf(new Uint8Array(await subtle.digest(sha256Name, spki)));
  const timestamp: Timestamp = { time: info.time, serial: hexOf(info.serial), spkiSha256 };
  const pin = question.pins.find((one) => one.spkiSha256 === spkiSha256 && isInUse(one, isoOf(info.time)));
  return pin === undefined ? { ...fail("signer_not_pinned"), timestamp } : { ok: true, timestamp, pin };
};
