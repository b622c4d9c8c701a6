// The trust document, which contains the keys that verifiers pin. It is published at /.well-known/svc-trust.json, and every evidence pack
// contains a copy. Its JSON keys must not change, because released verifiers read them.

/** The validity period of a published key. Times are ISO 8601; null means that the period has no end. */
interface PublishedKeyValidity {
  readonly validFrom: string;
  readonly validTo?: string | null;
}

export interface IssuerJwk {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly x: string;
  readonly kid: string;
  readonly alg: "EdDSA";
  readonly use: "sig";
}

export interface TrustDocumentInput {
  /** The verifier program that the service currently serves, with its SHA-256 in hex. */
  readonly verifier: { readonly url: string; readonly sha256: string };
  readonly logs: readonly (PublishedKeyValidity & {
    readonly origin: string;
    readonly vkey: string;
    readonly role: "primary" | "mirror" | "audit";
  })[];
  readonly witnessKeys: readonly string[];
  readonly witnessMin: number;
  readonly authorities: readonly {
    readonly name: string;
    readonly pem: string;
    readonly pins: readonly (PublishedKeyValidity & { readonly spkiSha256: string })[];
  }[];
  readonly issuerKeys: readonly (IssuerJwk & PublishedKeyValidity)[];
  /** The anchor keys as SPKI, in base64. */
  readonly anchorKeys: readonly string[];
}

export const buildTrustDocument = (trusted: TrustDocumentInput) => ({
  version: 1 as const,
  verifier: { ...trusted.verifier },
  logs: trusted.logs.map(({ origin, vkey, validFrom, validTo, role }) => ({
    origin,
    vkey,
    valid_from: validFrom,
    valid_to: validTo ?? null,
    role,
  })),
  witnesses: [...trusted.witnessKeys],
  policy: { witness_min: trusted.witnessMin },
  tsa: trusted.authorities.flatMap(({ name, pins, pem }) =>
    pins.map(({ spkiSha256, validFrom, validTo }) => ({
      name,
      spki_sha256: spkiSha256,
      pem,
      valid_from: validFrom,
      valid_to: validTo ?? null,
    })),
  ),
  // The keys are JSON Web Keys with two additional properties. JWK readers ignore these properties.
  issuer_keys: {
    keys: trusted.issuerKeys.map(({ validFrom, validTo, ...key }) => ({ ...key, valid_from: validFrom, valid_to: validTo ?? null })),
  },
  anchor_keys: [...trusted.anchorKeys],
});

export type TrustDocument = ReturnType<typeof buildTrustDocument>;
