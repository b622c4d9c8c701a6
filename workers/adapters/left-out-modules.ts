// Replaces unused modules of our dependencies. The `alias` list in wrangler.toml puts this file in their place, so the bundle does not
// contain them. Calling anything that is left out throws an error. If a new version of a dependency imports a name that is missing here,
// bundling fails. Bundling does not detect missing names that are read from a namespace import.

const leftOut = (): never => {
  throw new Error("This module is not part of the bundle. See `alias` in wrangler.toml.");
};

// zod: compiled schemas, and schemas from JSON Schema.
export {
  leftOut as compile,
  leftOut as fromJSONSchema,
  leftOut as INVALID,
  leftOut as withParser,
  leftOut as ZodCompileAsyncError,
  leftOut as ZodCompileUnsupportedError,
};

// drizzle-orm: relational queries.
export {
  leftOut as buildRqbColumns,
  leftOut as collectSubqueryAndUsedTables,
  leftOut as getTableAsAliasSQL,
  leftOut as makeDefaultRqbMapper,
  leftOut as makeJitRqbMapper,
  leftOut as relationalQueryCacheConfig,
  leftOut as relationalQueryCacheMetadata,
  leftOut as relationalQueryUsedTablesInit,
  leftOut as relationalQueryWhereToSQL,
  leftOut as relationExtrasToSQL,
  leftOut as relationsOrderToSQL,
  leftOut as relationToSQL,
};

// stripe: event notifications, and parts of its API that we do not call. The client's constructor creates an object for each part. These
// objects must therefore not throw before they are used. The client uses only `OAuthResource` of ./resources.js.
// biome-ignore lint/complexity/useArrowFunction: Called with `new`.
const LeftOutResource = function () {
  return new Proxy({}, { get: leftOut });
};
export {
  leftOut as StripeEventNotificationHandler,
  LeftOutResource as CustomerResource,
  LeftOutResource as InvoiceResource,
  LeftOutResource as Issuing,
  LeftOutResource as OAuthResource,
  LeftOutResource as PaymentLinkResource,
  LeftOutResource as PriceResource,
  LeftOutResource as QuoteResource,
  LeftOutResource as SubscriptionItemResource,
  LeftOutResource as TestHelpers,
  LeftOutResource as Treasury,
  LeftOutResource as V2,
};

// @simplewebauthn/server: manufacturer certificates and metadata. webauthn.ts refuses passkeys that need them before it calls the library.
export {
  leftOut as Apple_WebAuthn_Root_CA,
  leftOut as AsnParser,
  leftOut as AuthorityKeyIdentifierExtension,
  leftOut as BasicConstraints,
  leftOut as Certificate,
  leftOut as convertX509PublicKeyToCOSE,
  leftOut as CRLDistributionPointsExtension,
  leftOut as ECParameters,
  leftOut as getCertificateInfo,
  leftOut as GlobalSign_Root_CA,
  leftOut as GlobalSign_Root_CA_R3,
  leftOut as GlobalSign_Root_R46,
  leftOut as Google_Hardware_Attestation_Root_1,
  leftOut as Google_Hardware_Attestation_Root_2,
  leftOut as Google_Hardware_Attestation_Root_3,
  leftOut as Google_Hardware_Attestation_Root_4,
  leftOut as id_ce_basicConstraints,
  leftOut as id_ecdsaWithSHA256,
  leftOut as id_ecdsaWithSHA384,
  leftOut as id_ecdsaWithSHA512,
  leftOut as id_ecPublicKey,
  leftOut as id_ml_dsa_44,
  leftOut as id_ml_dsa_65,
  leftOut as id_ml_dsa_87,
  leftOut as id_rsaEncryption,
  leftOut as id_secp256r1,
  leftOut as id_secp384r1,
  leftOut as id_sha1WithRSAEncryption,
  leftOut as id_sha256WithRSAEncryption,
  leftOut as id_sha384WithRSAEncryption,
  leftOut as id_sha512WithRSAEncryption,
  leftOut as MetadataService,
  leftOut as OctetString,
  leftOut as RSAPublicKey,
  leftOut as SubjectKeyIdentifierExtension,
  leftOut as validateCertificatePath,
  leftOut as validateExtFIDOGenCEAAGUID,
  leftOut as verifyAttestationAndroidKey,
  leftOut as verifyAttestationAndroidSafetyNet,
  leftOut as verifyAttestationApple,
  leftOut as verifyAttestationFIDOU2F,
  leftOut as verifyAttestationTPM,
  leftOut as verifyAttestationWithMetadata,
  leftOut as X509Certificate,
  leftOut as X509ChainBuilder,
  leftOut as X509Crl,
};
