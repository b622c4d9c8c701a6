// A software authenticator: creates passkeys and signs with them as a phone does. Tests can override what it reports.
import { toBase64Url, fromBase64Url, concatBytes, encodeUtf8 } from "../../core/bytes.ts";
import { sha256 } from "../../core/hash.ts";

type Bytes = Uint8Array<ArrayBuffer>;
type Cbor = number | string | Uint8Array | readonly Cbor[] | ReadonlyMap<number | string, Cbor>;

const encodeCborHead = (major: number, value: number): Bytes => {
  const kind = major << 5;
  if (value < 24) return Uint8Array.of(kind | value);
  if (value < 256) return Uint8Array.of(kind | 24, value);
  return Uint8Array.of(kind | 25, value >> 8, value & 255);
};

/** Encodes the subset of CBOR that an attestation uses. */
const encodeCbor = (value: Cbor): Bytes => {
  if (typeof value === "number") return value < 0 ? encodeCborHead(1, -1 - value) : encodeCborHead(0, value);
  if (typeof value === "string") return concatBytes(encodeCborHead(3, encodeUtf8(value).length), encodeUtf8(value));
  if (value instanceof Uint8Array) return concatBytes(encodeCborHead(2, value.length), value);
  if (!(value instanceof Map))
    return concatBytes(encodeCborHead(4, (value as readonly Cbor[]).length), ...(value as readonly Cbor[]).map(encodeCbor));
  const pairs = [...(value as ReadonlyMap<number | string, Cbor>)].map(([key, item]) => concatBytes(encodeCbor(key), encodeCbor(item)));
  return concatBytes(encodeCborHead(5, value.size), ...pairs);
};

/** Encodes the subset of DER that a certificate uses. */
const encodeDer = (tag: number, ...parts: readonly Uint8Array[]): Bytes => {
  const content = concatBytes(...parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return concatBytes(Uint8Array.of(tag, ...size), content);
};

/** Encodes one of the two integers of an ECDSA signature. */
const encodeDerInteger = (bytes: Uint8Array): Bytes => {
  const start = bytes.findIndex((byte) => byte !== 0);
  const digits = bytes.subarray(start);
  const padded = (digits[0] as number) > 127 ? concatBytes(Uint8Array.of(0), digits) : digits;
  return concatBytes(Uint8Array.of(2, padded.length), padded);
};
const encodeDerSignature = (raw: Uint8Array): Bytes => {
  const numbers = concatBytes(encodeDerInteger(raw.subarray(0, 32)), encodeDerInteger(raw.subarray(32)));
  return concatBytes(Uint8Array.of(0x30, numbers.length), numbers);
};

/**
 * Creates a manufacturer's attestation key with a certificate whose signature is invalid. A verifier without root certificates accepts it.
 */
const createAttestationKey = async (): Promise<{ readonly privateKey: CryptoKey; readonly certificate: Bytes }> => {
  const keys = (await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"])) as CryptoKeyPair;
  const publicKey = new Uint8Array((await crypto.subtle.exportKey("spki", keys.publicKey)) as ArrayBuffer);
  const ecdsaWithSha256 = encodeDer(0x30, encodeDer(0x06, Uint8Array.of(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02)));
  const time = (text: string): Bytes => encodeDer(0x17, encodeUtf8(text));
  const certified = encodeDer(
    0x30,
    encodeDer(0xa0, encodeDer(0x02, Uint8Array.of(2))),
    encodeDer(0x02, Uint8Array.of(1)),
    ecdsaWithSha256,
    encodeDer(0x30),
    encodeDer(0x30, time("200101000000Z"), time("491231235959Z")),
    encodeDer(0x30),
    publicKey,
  );
  const certificate = encodeDer(
    0x30,
    certified,
    ecdsaWithSha256,
    encodeDer(0x03, Uint8Array.of(0), encodeDerSignature(new Uint8Array(64).fill(1))),
  );
  return { privateKey: keys.privateKey, certificate };
};

const flags = { present: 1, verified: 4, mayBeBackedUp: 8, backedUp: 16, hasKey: 64 };

/** Values that the authenticator reports instead of the true ones. */
export interface AuthenticatorOverrides {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly challenge?: string;
  /** Clears the flag that says that a fingerprint or PIN was checked. */
  readonly unverified?: true;
  readonly counter?: number;
  readonly userHandle?: string | null;
  readonly id?: string;
  /** Signs the attestation with the new key itself, as some browsers do when no attestation is requested. */
  readonly selfAttested?: true;
  /** Adds a manufacturer's attestation even though none is requested. */
  readonly attested?: true;
  /** Uses a different attestation format, with an empty statement. */
  readonly format?: string;
}

interface CreationOptions {
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
  readonly challenge: string;
}
interface RequestOptions {
  readonly rpId: string;
  readonly challenge: string;
}

const toCredentialJson = (id: string, response: object) => ({
  id,
  rawId: id,
  type: "public-key",
  authenticatorAttachment: "platform",
  clientExtensionResults: {},
  response,
});

const encodeClientData = (type: string, challenge: string, origin: string): Bytes =>
  encodeUtf8(JSON.stringify({ type, challenge, origin, crossOrigin: false }));

const encodeAuthenticatorData = async (
  rpId: string,
  lies: AuthenticatorOverrides,
  counter: number,
  key: Uint8Array | null,
): Promise<Bytes> => {
  const bits =
    flags.present |
    flags.mayBeBackedUp |
    flags.backedUp |
    (lies.unverified === undefined ? flags.verified : 0) |
    (key === null ? 0 : flags.hasKey);
  const count = new Uint8Array(4);
  new DataView(count.buffer).setUint32(0, counter);
  return concatBytes(sha256(encodeUtf8(rpId)), Uint8Array.of(bits), count, key ?? new Uint8Array());
};

const signBytes = async (privateKey: CryptoKey, signed: Bytes): Promise<Bytes> =>
  encodeDerSignature(new Uint8Array(await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, privateKey, signed)));

const buildU2fStatement = async (signed: Bytes): Promise<ReadonlyMap<string, Cbor>> => {
  const { privateKey, certificate } = await createAttestationKey();
  return new Map<string, Cbor>([
    ["sig", await signBytes(privateKey, signed)],
    ["x5c", [certificate]],
  ]);
};

/** One passkey on one device. If `hasCounter` is false, the signature counter stays 0, as on many phones. */
export class Authenticator {
  readonly origin: string;
  readonly hasCounter: boolean;
  #keys: CryptoKeyPair | null = null;
  #counter = 0;
  id = "";
  userHandle = "";

  constructor(origin = "http://svc.test", hasCounter = true) {
    this.origin = origin;
    this.hasCounter = hasCounter;
  }

  async make(options: CreationOptions, lies: AuthenticatorOverrides = {}) {
    this.#keys = (await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"])) as CryptoKeyPair;
    const { x, y } = (await crypto.subtle.exportKey("jwk", this.#keys.publicKey)) as JsonWebKey;
    const rawId = fromBase64Url(lies.id ?? toBase64Url(crypto.getRandomValues(new Uint8Array(16)))) as Bytes;
    this.id = toBase64Url(rawId);
    this.userHandle = options.user.id;
    const cose = encodeCbor(
      new Map<number, Cbor>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, fromBase64Url(x as string) as Bytes],
        [-3, fromBase64Url(y as string) as Bytes],
      ]),
    );
    const key = concatBytes(new Uint8Array(16), Uint8Array.of(0, rawId.length), rawId, cose);
    const authData = await encodeAuthenticatorData(lies.rpId ?? options.rp.id, lies, this.#next(lies), key);
    const client = encodeClientData(lies.type ?? "webauthn.create", lies.challenge ?? options.challenge, lies.origin ?? this.origin);
    const point = concatBytes(Uint8Array.of(4), fromBase64Url(x as string) as Bytes, fromBase64Url(y as string) as Bytes);
    const { privateKey } = this.#keys;
    const signedByMaker = concatBytes(Uint8Array.of(0), sha256(encodeUtf8(options.rp.id)), sha256(client), rawId, point);
    const buildStatement = async (): Promise<ReadonlyMap<string, Cbor>> => {
      if (lies.attested) return buildU2fStatement(signedByMaker);
      if (!lies.selfAttested) return new Map();
      return new Map<string, Cbor>([
        ["alg", -7],
        ["sig", await signBytes(privateKey, concatBytes(authData, sha256(client)))],
      ]);
    };
    const format = lies.attested ? "fido-u2f" : lies.selfAttested ? "packed" : (lies.format ?? "none");
    const attestation = encodeCbor(
      new Map<string, Cbor>([
        ["fmt", format],
        ["attStmt", await buildStatement()],
        ["authData", authData],
      ]),
    );
    return toCredentialJson(this.id, {
      clientDataJSON: toBase64Url(client),
      attestationObject: toBase64Url(attestation),
      transports: ["internal", "hybrid"],
    });
  }

  async sign(options: RequestOptions, lies: AuthenticatorOverrides = {}) {
    const client = encodeClientData(lies.type ?? "webauthn.get", lies.challenge ?? options.challenge, lies.origin ?? this.origin);
    const authData = await encodeAuthenticatorData(lies.rpId ?? options.rpId, lies, this.#next(lies), null);
    const signed = concatBytes(authData, sha256(client));
    const { privateKey } = this.#keys as CryptoKeyPair;
    const handle = lies.userHandle === undefined ? this.userHandle : lies.userHandle;
    return toCredentialJson(lies.id ?? this.id, {
      clientDataJSON: toBase64Url(client),
      authenticatorData: toBase64Url(authData),
      signature: toBase64Url(await signBytes(privateKey, signed)),
      userHandle: handle,
    });
  }

  #next({ counter }: AuthenticatorOverrides): number {
    if (counter !== undefined) return counter;
    if (this.hasCounter) this.#counter += 1;
    return this.#counter;
  }
}
